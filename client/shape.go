package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client/internal/reply"
)

// ShapeError says that the service has answered with valid JSON of an unexpected shape. The service has probably charged for
// the answer, and the next answer will have the same shape.
type ShapeError struct {
	Reason string // the part of the answer that is not as expected
	Want   string // an example of the expected shape
	Member string // the value of Options.Member that reads this answer; "" for none
	Found  Answer // the answer as read at Member
	Worded bool   // the answer has a message in words, such as {"error":"try again later"}

	member bool   // Options.Member may help
	brief  string // the beginning of the answer, for a rejection
}

// Error returns the reason, the expected shape, and where the answer has a list of entries.
func (e *ShapeError) Error() string {
	text := e.Reason + "; expected " + e.Want
	if e.Member != "" {
		text += "; the answer has a list of entries at " + e.Member
	}
	return text
}

// OptionName returns "client.Member" if that option may help; else "".
func (e *ShapeError) OptionName() string {
	if e.member {
		return "client.Member"
	}
	return ""
}

// Rejection returns the error as a rejection of one input. It is for an answer of an unexpected shape among answers of the
// expected shape: then the input is the cause. The result has only fields that the store keeps.
func (e *Error) Rejection() *Error {
	rejection := &Error{Class: Rejected, Status: e.Status, Detail: e.Detail}
	if shape, ok := errors.AsType[*ShapeError](e.Err); ok {
		rejection.Detail = shape.Reason + ": " + shape.brief
	}
	return rejection
}

// ClassificationMark stands for the classification's name in Options.Member.
const ClassificationMark = "{classification}"

// topMember is the value of Options.Member for an answer that is the list itself.
const topMember = "."

var errMember error = &OptionError{"Member", fmt.Errorf("the path of the entries must be names separated by dots, such as data.%s, or a dot for the whole answer", ClassificationMark)}

// checkMember checks a value of Options.Member.
func checkMember(member string) error {
	if member != "" && member != topMember && slices.Contains(strings.Split(member, "."), "") {
		return errMember
	}
	return nil
}

// pathOf returns the names of the members that lead to the entries of a classification.
func (o *Options) pathOf(classification string) []string {
	name := classification
	if o.CustomMember != "" && strings.HasPrefix(classification, CustomPrefix) {
		name = o.CustomMember
	}
	switch o.Member {
	case topMember:
		return nil
	case "":
		return []string{name}
	}
	return strings.Split(strings.ReplaceAll(o.Member, ClassificationMark, name), ".")
}

// atPath returns the part of a JSON value at a path of member names and element indexes.
func atPath(value json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		var (
			members  map[string]json.RawMessage
			elements []json.RawMessage
			ok       bool
		)
		if json.Unmarshal(value, &members) == nil {
			value, ok = members[name]
		} else if n, err := strconv.Atoi(name); err == nil && json.Unmarshal(value, &elements) == nil && n >= 0 && n < len(elements) {
			value, ok = elements[n], true
		}
		if !ok {
			return nil, false
		}
	}
	return value, true
}

// parse decodes the body of an answer. ParseAnswer can read the Body of the result. The error says why the shape is unexpected.
func (o *Options) parse(body []byte, classification string) (Answer, error) {
	answer, err := o.parseList(body, classification)
	if (err != nil || len(answer.Entries) == 0) && o.isEmpty(body, classification) {
		body = underName([]byte("[]"), classification)
		return Answer{Entries: []Entry{}, Body: body, Bare: true}, nil
	}
	return answer, err
}

// parseList is parse for an answer that has a list of entries. It puts a list at another path under the name of the
// classification, because stored answers are read without Options.
func (o *Options) parseList(body []byte, classification string) (Answer, error) {
	own, path := body, o.pathOf(classification)
	if len(path) != 1 || path[0] != classification {
		list, ok := atPath(body, path)
		_, isOwn := atPath(body, []string{classification})
		switch {
		case o.Member == "" && (isOwn || !ok): // for ParseAnswer
		case !ok:
			return Answer{}, fmt.Errorf("the answer has nothing at %s", strings.Join(path, "."))
		default:
			own = underName(list, classification)
		}
	}
	answer, err := ParseAnswer(own, classification)
	if err == nil {
		err = answer.checkNames(classification)
	}
	return answer, err
}

// isEmpty reports whether a body has null, {}, [] or "" in place of the list of entries or of an object around it: the answer
// has no entries.
func (o *Options) isEmpty(body []byte, classification string) bool {
	if len(body) > longestEmpty {
		return false
	}
	path := o.pathOf(classification)
	for n := range len(path) + 1 {
		part, ok := atPath(body, path[:n])
		if !ok {
			return false
		}
		switch strings.Join(strings.Fields(string(part)), "") {
		case "null", "{}", "[]", `""`:
			return n < len(path) || string(part) != "[]"
		}
	}
	return false
}

// longestEmpty is the longest body of an answer without entries, in bytes. Longer bodies are not searched.
const longestEmpty = 4096

// underName returns an answer whose only member is the list, named after the classification.
func underName(list json.RawMessage, classification string) []byte {
	name, _ := json.Marshal(classification) // a string always marshals
	return slices.Concat([]byte("{"), name, []byte(":"), list, []byte("}"))
}

// checkNames returns an error if the answer has entries and none has a member "value". An entry whose value is empty is only
// dropped.
func (a *Answer) checkNames(classification string) error {
	if len(a.Entries) > 0 || a.Dropped == 0 {
		return nil
	}
	list, _ := atPath(a.Body, []string{classification})
	var entries []map[string]json.RawMessage
	if json.Unmarshal(list, &entries) != nil {
		return nil // the list of a custom classification has another name
	}
	for _, e := range entries {
		for name := range e {
			if strings.EqualFold(name, "value") {
				return nil
			}
		}
	}
	names := slices.Sorted(maps.Keys(entries[0]))
	return fmt.Errorf("the entries have no member %q, but %q", "value", names)
}

// misfit returns the error of a body that is not an answer: a *ShapeError of the class Fatal if the body is valid JSON. An HTML
// page, a truncated body and the message that the quota is used up are Transient.
func (c *HTTP) misfit(status int, body []byte, r Request, reason error) *Error {
	classification, quota := r.Classification, reply.IsSpent(status, body, 0, r.Input)
	if quota || !json.Valid(body) {
		return &Error{Class: Transient, Status: status, Err: reason, Detail: c.snippet(body), Page: reply.IsPage(body), input: r.Input, spent: quota}
	}
	e := c.shapeError(status, body, reason, fmt.Sprintf(`{%q: [{"value": "A > B", "confidence": 0.9}]}`, classification))
	shape := e.Err.(*ShapeError)
	shape.member = true
	if path, ok := onlyPath(body, classification); ok {
		o := c.options
		o.Member = path
		if found, err := o.parse(body, classification); err == nil {
			shape.Member, shape.Found = c.Hide(path), found
		}
	}
	return e
}

// bodyShown is the longest part of an answer that a ShapeError's Detail shows, in characters.
const bodyShown = 500

func (c *HTTP) shapeError(status int, body []byte, reason error, want string) *Error {
	shape := &ShapeError{Reason: c.Hide(reason.Error()), Want: want, brief: c.excerpt(string(body), longestSnippet)}
	shape.Worded = reply.Message(body) != string(body)
	return &Error{Class: Fatal, Status: status, Err: shape, Detail: "got " + c.excerpt(string(body), bodyShown)}
}

// mostPathDepth is the deepest nesting at which onlyPath finds a list.
const mostPathDepth = 4

// onlyPath returns the value of Options.Member for the only list of entries in a body. Among several lists, onlyPath chooses the
// only list with the classification's name.
func onlyPath(body []byte, classification string) (member string, ok bool) {
	var paths, named []string
	for _, path := range listPaths(body, nil) {
		if len(path) > 0 && path[len(path)-1] == classification {
			path[len(path)-1] = ClassificationMark
			named = append(named, strings.Join(path, "."))
		}
		paths = append(paths, strings.Join(path, "."))
	}
	if len(named) == 1 {
		paths = named
	}
	if len(paths) != 1 {
		return "", false
	}
	if paths[0] == "" {
		return topMember, true
	}
	return paths[0], true
}

// listPaths returns the paths of the lists in a JSON value that have entries with values.
func listPaths(value json.RawMessage, path []string) (paths [][]string) {
	if entries, _, ok := parseList(value); ok && len(entries) > 0 {
		return [][]string{slices.Clone(path)}
	}
	if len(path) == mostPathDepth {
		return nil
	}
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) == nil && len(elements) == 1 {
		return listPaths(elements[0], append(path, "0"))
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if name != "" && !strings.Contains(name, ".") {
			paths = append(paths, listPaths(members[name], append(path, name))...)
		}
	}
	return paths
}
