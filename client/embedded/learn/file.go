package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The file of a model consists of firstLine, the SHA-256 digest of the rest, the length of About as JSON (uvarint), this JSON,
// and the linear model: the scale, the rarity of unknown features, the number of features and the number of classes; for each
// feature the difference of its id to the previous id, its rarity and the number of its weights; for each weight the difference
// of its class to the previous class, the weight, and for words the number of examples; and the bias of each class.
const firstLine = "bulkcat model 3\n"

const headerLength = len(firstLine) + sha256.Size

// MaxFile is the most bytes of a file.
const MaxFile = 2 << 20

// FileError says that a file is not a model, is damaged, or is of another version.
type FileError struct {
	File    string
	Problem string
}

func (e *FileError) Error() string { return e.File + ": " + e.Problem }

func digest(body []byte) [32]byte { return sha256.Sum256(body) }

// Fingerprint is a hash of the model. Models with equal fingerprints give equal answers.
func (m *Model) Fingerprint() string { return hex.EncodeToString(m.digest[:8]) }

// WriteTo writes the file of the model.
func (m *Model) WriteTo(out io.Writer) (int64, error) {
	file := append([]byte(firstLine), m.digest[:]...)
	n, err := out.Write(append(file, m.body()...))
	return int64(n), err
}

// body returns the part of the file after the digest.
func (m *Model) body() []byte {
	about, err := json.Marshal(m.About)
	if err != nil {
		panic(err) // its members are texts and finite numbers
	}
	b := append(binary.AppendUvarint(nil, uint64(len(about))), about...)
	return m.linear.append(b)
}

func (m *linear) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(m.scale))
	b = append(b, m.unknown)
	b = binary.AppendUvarint(b, uint64(len(m.ids)))
	b = binary.AppendUvarint(b, uint64(len(m.bias)))
	previous := uint32(0)
	for i, id := range m.ids {
		b = binary.AppendUvarint(b, uint64(id-previous))
		previous = id
		from, to := m.offsets[i], m.offsets[i+1]
		b = append(b, m.rarity[i])
		b = binary.AppendUvarint(b, uint64(to-from))
		class := int32(0)
		for j := from; j < to; j++ {
			b = binary.AppendUvarint(b, uint64(m.classes[j]-class))
			class = m.classes[j]
			b = append(b, byte(m.weights[j]))
			if id>>hashBits == kindWord {
				b = binary.AppendUvarint(b, uint64(m.seen[j]))
			}
		}
	}
	for _, bias := range m.bias {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(bias))
	}
	return b
}

// Read parses the file of a model. file is its name in errors, which are *[FileError].
func Read(file string, text []byte) (*Model, error) {
	refuse := func(format string, args ...any) (*Model, error) {
		return nil, &FileError{file, fmt.Sprintf(format, args...)}
	}
	rest, isModel := bytes.CutPrefix(text, []byte(firstLine))
	switch {
	case !isModel && IsModel(text):
		return refuse("the model is of another version of bulkcat: make it again with 'bulkcat learn'")
	case !isModel:
		return refuse("the file is no model of 'bulkcat learn'")
	case len(text) > MaxFile:
		return refuse("the file has %d bytes, and a model has at most %d", len(text), MaxFile)
	case len(rest) < sha256.Size:
		return refuse("the model is cut off: copy the file again, or make it again with 'bulkcat learn'")
	}
	m := &Model{digest: digest(rest[sha256.Size:])}
	if !bytes.Equal(m.digest[:], rest[:sha256.Size]) {
		return refuse("the model is damaged: copy the file again, or make it again with 'bulkcat learn'")
	}
	if err := m.read(rest[sha256.Size:]); err != nil {
		return refuse("%v", err)
	}
	return m, nil
}

func (m *Model) read(body []byte) error {
	d := decoder{rest: body}
	about := d.bytes(d.number(MaxFile))
	if d.failed {
		return errMalformed
	}
	if err := json.Unmarshal(about, &m.About); err != nil {
		return errMalformed
	}
	if err := m.resolve(); err != nil {
		return err
	}
	for _, numbers := range [][]float64{m.Utility[:], m.First[:], m.Later[:]} {
		for _, x := range numbers {
			if math.Abs(x) > maxNumber {
				return errMalformed
			}
		}
	}
	if m.Compared <= 0 {
		return errMalformed
	}
	last := Agreement{Confidence: 1}
	for _, a := range m.Agreements {
		if !(a.Confidence > 0 && a.Confidence <= last.Confidence && a.Rows > last.Rows && a.Equal >= last.Equal && a.Right >= last.Right && a.Equal <= a.Right && a.Right <= a.Rows && a.Rows <= m.Compared) {
			return errMalformed
		}
		last = a
	}
	m.linear = d.linear(len(m.Classes))
	if d.failed || len(d.rest) > 0 {
		return errMalformed
	}
	return nil
}

var errMalformed = errors.New("the model is malformed: make it again with 'bulkcat learn'")

// maxNumber bounds the numbers of a model: no sum of their products is infinite.
const maxNumber = 1e6

// resolve sets the taxonomy, and the categories of the classes.
func (m *Model) resolve() error {
	otherEdition := errors.New("the model is of another edition of " + m.Classification + ": make it again with 'bulkcat learn'")
	if m.Tree != "" {
		custom, err := taxonomy.ReadCustom(m.Classification, "the taxonomy of the model", strings.NewReader(m.Tree))
		switch {
		case err != nil || !client.IsCustom(m.Classification):
			return errMalformed
		case custom.Fingerprint() != m.Edition:
			return otherEdition
		}
		m.taxonomy = &custom.Taxonomy
	} else if e, ok := m.Published(); ok {
		m.taxonomy = e.Load()
	} else if taxonomy.Published(m.Classification) != nil {
		return otherEdition
	} else {
		return fmt.Errorf("the model is of the classification %q, which this version of bulkcat does not have", m.Classification)
	}
	if client.CheckClassification(m.Kind, m.Classification) != nil {
		return errMalformed
	}
	places := make(map[string]int32, len(m.taxonomy.Categories))
	for i := range m.taxonomy.Categories {
		places[m.taxonomy.Categories[i].Path] = int32(i)
	}
	for i := range m.Classes {
		c := &m.Classes[i]
		for _, value := range c.Values {
			k, ok := places[value]
			if !ok {
				return errMalformed
			}
			c.categories = append(c.categories, k)
		}
		if len(c.categories) == 0 {
			return errMalformed
		}
	}
	return nil
}

// decoder reads numbers. failed is set if a number was malformed.
type decoder struct {
	rest   []byte
	failed bool
}

// number reads a number up to most; 0 if there is none.
func (d *decoder) number(most uint64) int {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 || x > most {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return int(x)
}

// bytes reads n bytes; nil if fewer are left.
func (d *decoder) bytes(n int) []byte {
	if n > len(d.rest) {
		d.failed, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// float reads a number between -maxNumber and maxNumber.
func (d *decoder) float() float32 {
	b := d.bytes(4)
	if b == nil {
		return 0
	}
	x := math.Float32frombits(binary.LittleEndian.Uint32(b))
	if !(math.Abs(float64(x)) <= maxNumber) { // NaN too
		d.failed = true
	}
	return x
}

// linear reads the linear model. Each feature and each weight takes at least two bytes, so the size of the file bounds the
// lists.
func (d *decoder) linear(classes int) *linear {
	m := &linear{scale: d.float(), unknown: d.byte(), offsets: []int32{0}, index: make(map[uint32]int32)}
	features := d.number(MaxFile)
	if d.number(MaxFile) != classes {
		d.failed = true
	}
	id := uint64(0)
	for i := 0; i < features && !d.failed; i++ {
		step := d.number(1 << idBits)
		if id += uint64(step); id >= kinds<<hashBits || step == 0 && i > 0 {
			d.failed = true
		}
		m.ids = append(m.ids, uint32(id))
		m.index[uint32(id)] = int32(i)
		m.rarity = append(m.rarity, d.byte())
		weights, class := d.number(MaxFile), 0
		for j := 0; j < weights && !d.failed; j++ {
			step := d.number(uint64(classes))
			if class += step; class >= classes || step == 0 && j > 0 {
				d.failed = true
			}
			m.classes = append(m.classes, int32(class))
			m.weights = append(m.weights, int8(d.byte()))
			seen := 0
			if id>>hashBits == kindWord {
				seen = d.number(math.MaxUint16)
			}
			m.seen = append(m.seen, uint16(seen))
		}
		m.offsets = append(m.offsets, int32(len(m.weights)))
	}
	for range classes {
		m.bias = append(m.bias, d.float())
	}
	return m
}

// treeText returns a custom taxonomy as CSV for taxonomy.ReadCustom. It has a column of links if a category has links.
func treeText(t *taxonomy.Taxonomy) string {
	columns := []string{"path", "id", "aliases", "links"}
	if !slices.ContainsFunc(t.Categories, func(c taxonomy.Category) bool { return c.Links != nil }) {
		columns = columns[:3]
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(columns) // a strings.Builder has no errors
	for _, c := range t.Categories {
		cells := []string{c.Path, c.ID, strings.Join(c.Aliases, "|"), strings.Join(c.Links, "|")}
		_ = w.Write(cells[:len(columns)])
	}
	w.Flush()
	return b.String()
}

// IsModel reports whether a file is a model of any version.
func IsModel(text []byte) bool { return bytes.HasPrefix(text, []byte("bulkcat model ")) }
