package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Profile is what a probe has found out about a service: what the interface leaves open.
// It holds no secret. In a file it is a JSON object with these members.
type Profile struct {
	Format        int       `json:"bulkcat_profile"` // of the file; 1
	BaseURL       string    `json:"base_url"`
	WebsiteParam  string    `json:"website_param,omitempty"` // "" where the operation did not work
	ProductParam  string    `json:"product_param,omitempty"` // likewise
	ParamIn       ParamIn   `json:"param_in,omitempty"`
	SuccessStatus int       `json:"success_status,omitempty"`
	BadKeyStatus  int       `json:"bad_key_status,omitempty"` // of a request with a wrong key
	CustomMember  string    `json:"custom_member,omitempty"`  // of a custom classification's answer
	RateLimit     float64   `json:"rate_limit,omitempty"`     // requests a second, where the service tells
	RateHeaders   []string  `json:"rate_headers,omitempty"`   // that were seen
	Charges       *bool     `json:"charges"`                  // whether requests move what remains; null where that is not known
	Assumed       []string  `json:"assumed,omitempty"`        // what could not be seen, in sentences
	ProbedAt      time.Time `json:"probed_at"`
}

const profileFormat = 1

var errNotProfile = errors.New("this is not a profile that bulkcat probe has written")

// ParseProfile reads a profile's file.
func ParseProfile(text []byte) (Profile, error) {
	var p Profile
	var mark struct {
		Format int `json:"bulkcat_profile"`
	}
	if err := json.Unmarshal(text, &mark); err != nil || mark.Format == 0 {
		return p, errNotProfile
	}
	if mark.Format != profileFormat {
		return p, fmt.Errorf("the profile has the format %d, this bulkcat reads %d: probe the service again", mark.Format, profileFormat)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // a misspelled member would be passed over in silence
	if err := d.Decode(&p); err != nil {
		return Profile{}, fmt.Errorf("the profile is damaged: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Profile{}, errNotProfile
	}
	if err := p.check(); err != nil {
		return Profile{}, fmt.Errorf("the profile is damaged: %w", err)
	}
	return p, nil
}

func (p Profile) check() error {
	if _, err := parseBaseURL(p.BaseURL); err != nil {
		return errors.New("base_url must look like https://api.example.com")
	}
	switch p.ParamIn {
	case "", InQuery, InForm, InJSON:
	default:
		return errors.New("param_in must be query, form or json")
	}
	if p.RateLimit < 0 || math.IsInf(p.RateLimit, 0) {
		return errors.New("rate_limit must not be negative")
	}
	return nil
}

// Encode gives the profile's file.
func (p Profile) Encode() ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("encode the profile: %w", err)
	}
	return text.Bytes(), nil
}
