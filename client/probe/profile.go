package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Profile is the result of a probe: the properties of a service that the interface leaves open. It holds
// no secret. Its file is a JSON object with these members.
type Profile struct {
	Format        int            `json:"bulkcat_profile"` // version of the file's format: 1
	BaseURL       string         `json:"base_url"`
	WebsiteParam  string         `json:"website_param,omitempty"` // "" if the operation did not work
	ProductParam  string         `json:"product_param,omitempty"` // "" if the operation did not work
	ParamIn       client.ParamIn `json:"param_in,omitempty"`
	SuccessStatus int            `json:"success_status,omitempty"` // HTTP status of an answer
	BadKeyStatus  int            `json:"bad_key_status,omitempty"` // HTTP status of a request with a wrong key
	Member        string         `json:"member,omitempty"`         // see client.Options.Member
	CustomMember  string         `json:"custom_member,omitempty"`  // see client.Options.CustomMember
	RateLimit     float64        `json:"rate_limit,omitempty"`     // requests per second; 0 if the service does not report it
	RateHeaders   []string       `json:"rate_headers,omitempty"`   // names of the limit's headers in the responses
	Charges       *bool          `json:"charges"`                  // whether requests use the quota; null if unknown
	Price         json.Number    `json:"price,omitempty"`          // price of a request, as the user gave it; "" if unknown
	Currency      string         `json:"currency,omitempty"`       // of Price
	Assumed       []string       `json:"assumed,omitempty"`        // sentences about what the probe could not observe
	ProbedAt      time.Time      `json:"probed_at"`                // UTC, in whole seconds
}

const profileFormat = 1

var errNotProfile = errors.New("this is not a profile that bulkcat probe has written")

// ParseProfile decodes the file of a profile. The error says why the text is not a profile.
func ParseProfile(text []byte) (Profile, error) {
	var p Profile
	var header struct {
		Format int `json:"bulkcat_profile"`
	}
	if err := json.Unmarshal(text, &header); err != nil || header.Format == 0 {
		return p, errNotProfile
	}
	if header.Format != profileFormat {
		return p, fmt.Errorf("the profile has the format %d, this bulkcat reads %d: probe the service again", header.Format, profileFormat)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // reports misspelled members
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
	if _, err := client.New(client.Options{BaseURL: p.BaseURL}); err != nil {
		return errors.New("base_url must look like https://api.example.com")
	}
	switch p.ParamIn {
	case "", client.InQuery, client.InForm, client.InJSON:
	default:
		return errors.New("param_in must be query, form or json")
	}
	if _, err := client.New(client.Options{BaseURL: p.BaseURL, Member: p.Member}); err != nil {
		return fmt.Errorf("member: %w", err)
	}
	if p.RateLimit < 0 || math.IsInf(p.RateLimit, 0) {
		return errors.New("rate_limit must not be negative")
	}
	return nil
}

// Encode returns the content of the profile's file.
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
