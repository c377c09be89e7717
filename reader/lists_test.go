package reader

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

// titles are the candidates of the command line for products.
var titles = []string{"title", "product_title", "product", "name", "item_name", "g:title"}

// Lists as programs and people write them are read by what their content shows.
func TestListsAsTheyAre(t *testing.T) {
	pair := "1\t\"24 inch\tx\n2\tb\tx\n3\tc\tx\n4\t19\"\tx\n5\te\tx\n"
	for _, test := range []struct {
		name, file, content, want string // want of several lines, or the error
		log                       string
		options                   Options
	}{
		{"titles that begin with a number sign", "a.txt", "#10 Envelopes\n#1 Mug\nSofa\n", "1 #10 Envelopes\n2 #1 Mug\n3 Sofa\n", "", Options{}},
		{"comments of websites", "a.txt", "# list\na.com\n", "2 a.com\n", "", Options{Comment: "#"}},
		{"comments by the dialect", "a.txt", "; list\n#1 Mug\n", "2 #1 Mug\n", "", Options{Dialect: Dialect{Comment: ";"}}},
		{"no comments by the dialect", "a.txt", "#1 Mug\n", "1 #1 Mug\n", "", Options{Comment: "#", Dialect: Dialect{Comment: None}}},
		{"a table that is named text", "a.txt", "id\ttitle\n1\tMug\n", "2 Mug\n", "whatever the name", Options{}},
		{"a table with commas that is named text", "a.txt", "id,title\n1,Mug\n", "2 Mug\n", "whatever the name", Options{}},
		{"JSON lines that are named text", "a.txt", "{\"title\":\"Mug\"}\n", "1 Mug\n", "whatever the name", Options{}},
		{"tabs without a known header", "a.txt", "1\tMug\n2\tSofa\n", "which column is the input?", "whatever the name", Options{}},
		{"text by the format", "a.txt", "id\ttitle\n1\tMug\n", "1 id\ttitle\n2 1\tMug\n", "", Options{Format: "txt"}},
		{"rows that are named text", "a.txt", "1,a.com\n2,b.com\n", "1 1,a.com\n2 2,b.com\n", "look like rows of CSV.*option=reader.Format.*1,a.com", Options{}},
		{"rows with a bar", "a.txt", "a.com|x\n\n# note\nb.com|y\n", "1 a.com|x\n4 b.com|y\n", "look like rows of CSV", Options{Comment: "#"}},
		{"rows without an extension", "a", "1;Mug, red\n2;Sofa\n", "1 1;Mug, red\n2 2;Sofa\n", "look like rows of CSV", Options{}},
		{"rows as text by the format", "a.txt", "1,a.com\n2,b.com\n", "1 1,a.com\n2 2,b.com\n", "", Options{Format: "txt"}},
		{"rows as strict text", "a.txt", "1,a.com\n2,b.com\n", "1 1,a.com\n2 2,b.com\n", "", Options{Dialect: Dialect{Strict: true}}},
		{"titles with commas", "a.txt", "Mug, red\nSofa, blue\n", "1 Mug, red\n2 Sofa, blue\n", "", Options{}},
		{"a comma in some lines", "a.txt", "https://a.com/1,2\nhttps://b.com/\n", "1 https://a.com/1,2\n2 https://b.com/\n", "", Options{}},
		{"one line", "a.txt", "a.com,b.com\n", "1 a.com,b.com\n", "", Options{}},
		{"titles in braces", "a.txt", "{New} Mug\nSofa\n", "1 {New} Mug\n2 Sofa\n", "", Options{}},
		{"a title that is a name", "a.txt", "Mug\nName\nSofa\n", "1 Mug\n2 Name\n3 Sofa\n", "", Options{}},

		{"quotes behind backslashes", "a.csv", "title\n\"24\\\" monitor\"\n\"Sofa \\\"Max\\\", red\"\nPlain\n\"ends \\\\\"\n",
			"2 24\" monitor\n3 Sofa \"Max\", red\n4 Plain\n5 ends \\\n", "read as an escape", Options{}},
		{"backslashes are no escapes", "a.csv", "title,x\n\"C:\\\",\"y\"\n\"D:\\\\\",z\n", "2 C:\\\n3 D:\\\\\n", "", Options{}},
		{"escapes over lines", "a.csv", "title,x\n\"a \\\"b\\\"\nc\",1\nd,2\n", "2 a \"b\"\nc\n4 d\n", "read as an escape", Options{}},
		{"an escape by the dialect", "a.csv", "title,x\nSofa\\, red,1\n", "2 Sofa, red\n", "", Options{Dialect: Dialect{Escape: `\`}}},
		{"no escape by the dialect", "a.csv", "title\n\"24\\\" x\"\n", "2 24\\ x\"\n", "", Options{Dialect: Dialect{Escape: None}}},
		{"another quote", "a.csv", "title,x\n'a, b',1\n", "2 a, b\n", "", Options{Dialect: Dialect{Quote: "'"}}},

		{"two quotes that do not quote", "a.tsv", "id\ttitle\tx\n" + pair, "2 \"24 inch\n3 b\n4 c\n5 19\"\n6 e\n", "do not quote", Options{}},
		{"in a file that quotes", "a.tsv", "id\ttitle\tx\n" + pair + "6\t\"f\"\tx\n", "2! a quote opened on this line is closed on a later one, but each of these 4 lines is a row itself\n3 b\n4 c\n5 19\"\n6 e\n7 f\n", "", Options{}},
		{"a field of two lines behind delimiters in quotes", "a.csv", "title,brand,id\n\"Pen\",b,1\n\"a, b\",\"two\nlines\",2\nc,d,3\n", "2 Pen\n3 a, b\n5 c\n", "", Options{}},
		{"quotes around a delimiter", "a.tsv", "id\ttitle\tx\n\"12 in\tpan 24\"\t5\n", "2 pan 24\"\n", "do not quote", Options{Columns: []string{"title"}}},
		{"no quotes by the dialect", "a.csv", "title,x\n\"a\",1\n", "2 \"a\"\n", "", Options{Dialect: Dialect{Quote: None}}},
		{"a record of many lines", "a.csv", "title,x\n\"a" + strings.Repeat("\nb", 25) + "\",1\n", "2 a" + strings.Repeat("\nb", 25) + "\n", "many lines.*line=2", Options{}},
		{"one column with commas", "a.csv", "title\nRed shirt, large\nSofa\n", "2 Red shirt, large\n3 Sofa\n", "", Options{}},
		{"one column with commas and spaces", "a.csv", "title\nRed shirt, large\nSofa, blue\n", "2 Red shirt, large\n3 Sofa, blue\n", "", Options{}},
		{"one column and a field of two lines behind a comma", "a.csv", "title\n1,\"ha\nha\"\n3,4\n", "2! a quote opened on this line is closed on line 3, but: wrong number of fields: 2, want 1\n3 ha\"\n4! wrong number of fields: 2, want 1\n", "", Options{}},
		{"one column and rows of two", "a.csv", "title\nMug,1\nSofa,2\n", "2! wrong number of fields: 2, want 1\n3! wrong number of fields: 2, want 1\n", "", Options{}},

		{"rows above the header", "a.csv", "Company report\nGenerated: 2026,by: x\n\nid,title,n\n1,Mug,2\n", "5 Mug\n", "line=4", Options{}},
		{"notes above the header", "a.csv", "# id: Required | An id\n# title: Required | max 200\nid,title,x\n1,Mug,x\n", "4 Mug\n", "line=3", Options{}},
		{"titles of the columns above their keys", "a.tsv", "Type=x\tVersion=1\t\t\nSKU\tProduct Name\tBrand\tBullet\nitem_sku\titem_name\tbrand_name\tbullet_1\n1\tMug\tb\tc\n", "4 Mug\n", "line=3", Options{}},
		{"titles in another language", "a.tsv", "SKU\tProduktname\tMarke\nitem_sku\titem_name\tbrand_name\n1\tMug\tb\n", "3 Mug\n", "line=2", Options{}},
		{"a header with a number sign", "a.csv", "# made by x\n# id,title\n1,Mug\n", "3 Mug\n", "line=2", Options{}},
		{"rows above that may be data", "a.csv", "id,text\nother,Name\n1,Mug\n", "say which it is", "", Options{}},
		{"one row above that may be data", "a.csv", "Mug\nName\nSofa\n", "say which it is", "", Options{}},
		{"a header by the dialect", "a.csv", "id,text\nother,Name\n1,Mug\n", "3 Mug\n", "", Options{Dialect: Dialect{Header: 2}}},
		{"a header that is repeated", "a.csv", "id,title\n1,Mug\nid,title\n2,Sofa\n", "2 Mug\n4 Sofa\n", "repeated", Options{}},
		{"another header", "a.csv", "id,title\n1,Mug\ntitle,id\nSofa,2\n", "in another order", "", Options{}},
		{"an end mark of DOS", "a.csv", "id,title\n1,Mug\n\x1aid,title\n2,Sofa\n\x1a", "2 Mug\n4 Sofa\n", "", Options{}},
		{"an end mark in text", "a.txt", "Mug\n\x1a", "1 Mug\n", "", Options{}},
		{"hyphens", "a.csv", "item-sku,item-name\n1,Mug\n", "2 Mug\n", "", Options{}},
		{"a namespace", "a.tsv", "g:id\tg:title\n1\tMug\n", "2 Mug\n", "", Options{}},

		{"records below a key", "a.json", `{"shop":"x","products":[{"id":1,"title":"Bowl","variants":[{"sku":"a"}]},{"id":2,"title":"Tree"}]}`, "1 Bowl\n1 Tree\n", `elements of an array.*products\[\]`, Options{}},
		{"records below a key over lines", "a.json", "{\n \"total\": 2,\n \"products\": [\n  {\"title\": \"Bowl\"},\n  {\"title\": \"Tree\"}\n ],\n \"next\": null\n}\n", "4 Bowl\n5 Tree\n", "products", Options{}},
		{"records below a named key", "a.json", `{"shops":[{"title":"S"}],"data":{"products":[{"title":"Bowl"}],"n":1}}`, "1 Bowl\n", "", Options{Columns: []string{"data.products[].title"}}},
		{"records below keys", "a.json", `{"ok":true,"data":{"page":{"n":1},"products":[{"title":"Bowl"}]}}`, "1 Bowl\n", `data.products\[\]`, Options{}},
		{"a column below keys", "a.json", `{"products":[{"brand":{"name":"Acme"},"label":"Bowl"}]}`, "1 Acme Bowl\n", "", Options{Columns: []string{"products[].brand.name", "products[].label"}}},
		{"a column of the records below a key", "a.json", `{"products":[{"label":"Bowl"}]}`, "1 Bowl\n", "products", Options{Columns: []string{"label"}}},
		{"texts below a key", "a.json", `{"list":["a.com","b.com"]}`, "1 a.com\n1 b.com\n", "", Options{Columns: []string{"list[]"}}},
		{"texts below a key that is not named", "a.json", `{"about":"l","list":["a.com","b.com"]}`, "may be the texts of list[]", "", Options{}},
		{"columns and rows of arrays", "a.json", `{"columns":["title"],"data":[["Bowl"]]}`, "which column is the input", "", Options{}},
		{"the columns of a table of pandas", "a.json", `{"schema":{"fields":[{"name":"title"}]},"data":[{"title":"Bowl"},{"title":"Tree"}]}`, "1 Bowl\n1 Tree\n", "data", Options{}},
		{"records before objects of a deeper level", "a.json", `{"data":[{"title":"Bowl"},{"title":"Tree"}],"schema":{"fields":[{"name":"title"}],"tags":[{"x":1}]}}`, "1 Bowl\n1 Tree\n", "data", Options{}},
		{"two keys with records", "a.json", `{"products":[{"title":"Bowl"}],"shops":[{"title":"S"}]}`, "products[] or shops[]", "", Options{}},
		{"an object that may be a record", "a.json", `{"title":"Bowl","variants":[{"title":"red"}]}`, "may be a record itself", "", Options{}},
		{"an object with objects", "a.json", `{"title":"Bowl","variants":[{"sku":"red"}]}`, "1 Bowl\n", "", Options{}},
		{"an object with objects, and its column", "a.json", `{"title":"Bowl","variants":[{"title":"red"}]}`, "1 Bowl\n", "", Options{Columns: []string{"title"}}},
		{"objects with objects", "a.jsonl", strings.Repeat(`{"title":"Bowl","variants":[{"title":"red"}]}`+"\n", 2), "1 Bowl\n2 Bowl\n", "", Options{}},
		{"no such array", "a.json", `{"products":[{"title":"Bowl"}]}`, "not an object with the array items[]", "", Options{Columns: []string{"items[].title"}}},
		{"lines with an array", "a.jsonl", `{"items":[{"title":"a"}]}` + "\n" + `{"items":[{"title":"b"}]}` + "\n", "not an object with the array items[]", "", Options{Columns: []string{"items[].title"}}},
		{"columns of different records", "a.json", `{"a":[{"b":"c"}]}`, "different records", "", Options{Columns: []string{"a[].b", "c"}}},
		{"no numbers of Python", "a.jsonl", "{\"title\":\"NaN \\\"NaN\\\" mug\",\"n\":NaN}\n{\"title\":NaN,\"n\":-Infinity}\n{\"n\":[Infinity,-1],\"title\":\"Sofa\"}\n{\"title\":Nan}\n",
			"1 NaN \"NaN\" mug\n2 \n3 Sofa\n4! broken JSON: invalid character 'N' looking for beginning of value\n", "", Options{}},
		{"no numbers of Python in an array", "a.json", "[{\"n\":NaN,\n\"title\":\"Mug\"},\n{\"title\":\"-Infinity\",\"n\":-Infinity}]", "1 Mug\n3 -Infinity\n", "", Options{}},
		{"no numbers of Python below a key", "a.json", `{"n":NaN,"rows":[{"title":"Mug","n":Infinity}]}`, "1 Mug\n", "rows", Options{}},
		{"no numbers of Python in an object", "a.json", "{\n\"n\":NaN,\n\"title\":\"Mug\"\n}", "1 Mug\n", "", Options{}},

		{"a feed of RSS", "a.xml", "<?xml version=\"1.0\"?>\n<rss xmlns:g=\"http://base.google.com/ns/1.0\" version=\"2.0\"><channel><title>Shop</title>\n" +
			"<item><g:id>1</g:id><title>Bowl &amp; <![CDATA[tray]]></title></item>\n<item>\n<g:id>2</g:id><title>T&eacute;a</title></item></channel></rss>\n",
			"3 Bowl & tray\n4 Téa\n", "", Options{}},
		{"a feed with titles of Google", "a", `<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:title>Bowl</g:title></item><item><g:id>2</g:id></item></channel></rss>`, "1 Bowl\n1 \n", "", Options{}},
		{"a feed of Atom", "a.txt", "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:g=\"http://base.google.com/ns/1.0\"><title>Shop</title>\n<entry><title>Bowl</title><link href=\"https://a.com/\"/></entry></feed>", "2 https://a.com/\n", "", Options{Columns: []string{"link"}}},
		{"a feed with another prefix", "a.xml", `<rss xmlns:x="http://base.google.com/ns/1.0"><channel><item><x:title>Bowl</x:title></item></channel></rss>`, "1 Bowl\n", "", Options{Columns: []string{"g:title"}}},
		{"nested elements of a feed", "a.xml", `<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item><g:shipping><g:country>US</g:country></g:shipping></item></channel></rss>`, "1 US\n", "", Options{Columns: []string{"g:shipping.g:country"}}},
		{"repeated elements of a feed", "a.xml", `<rss><channel><item><title>a</title><title>b</title></item></channel></rss>`, "1! column \"title\" is an array, want a string\n", "", Options{}},
		{"an external entity", "a.xml", `<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel><item><title>a</title></item><item><title>&x;</title></item></channel></rss>`, "broken XML: invalid character entity &x;", "", Options{Format: "xml"}},
		{"a feed that is cut off", "a.xml", "<rss><channel><item><title>a</title></item><item><tit", "cut short", "", Options{}},
		{"a feed without an end", "a.xml", "<rss><channel><item><title>a</title></item>", "cut short", "", Options{}},
		{"an element behind a feed", "a.xml", "<rss><channel><item><title>a</title></item></channel></rss><rss/>", "an element after the end", "", Options{}},
		{"a long item", "a.xml", "<rss><channel><item><title>a</title></item><item>" + strings.Repeat("<a>xxxxxxxxxx</a>", maxRecord/16), "an item of the feed is longer than 1 MiB", "", Options{}},
		{"a deep item", "a.xml", "<rss><channel><item><title>a</title></item><item>" + strings.Repeat("<a>", 100), "more than 20 elements", "", Options{}},
		{"a feed in another encoding", "a.xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss><channel><item><title>Caf\xe9 au lait</title></item></channel></rss>", "1 Café au lait\n", "windows-1252", Options{}},
		{"other XML", "a.xml", "<?xml version=\"1.0\"?><urlset><url><loc>https://a.com</loc></url></urlset>", "an XML document other than RSS and Atom", "", Options{}},

		{"a known column is told", "a.csv", "Name,n\nMug,1\nSofa,2\n", "2 Mug\n3 Sofa\n", `column Name: \\"Mug\\", \\"Sofa\\"`, Options{}},
		{"numbers are no guess", "a.csv", "Name,Email\n#1001,a@b.c\n#1002,\n", "Name has only numbers", "", Options{}},
		{"another column is the guess", "a.csv", "Name,Item name\n#1001,Mug\n#1002,Sofa\n", "2 Mug\n3 Sofa\n", `column Item name \(guessed\): \\"Mug\\"`, Options{}},
		{"one value is no guess", "a.csv", "Name,x\n" + strings.Repeat("Acme,1\n", 6) + "Acme,2\n", "Name has one value throughout", "", Options{}},
		{"blanks are no guess", "a.csv", "Name,x\n" + strings.Repeat(",1\n", 6), "Name has no values", "", Options{}},
		{"numbers that are named", "a.csv", "Name,x\n#1001,1\n", "2 #1001\n", "", Options{Columns: []string{"name"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			o := test.options
			o.Paths, o.Candidates, o.Log = []string{writeFile(t, test.file, test.content)}, titles, slog.New(slog.NewTextHandler(&log, nil))
			r, err := Open(t.Context(), o)
			got := ""
			if err == nil {
				defer r.Close()
				var records []Record
				for err == nil {
					var record Record
					if record, err = r.Read(); err == nil {
						records = append(records, record)
					}
				}
				if err == io.EOF {
					err = nil
				}
				got = summary(records)
			}
			switch {
			case err != nil && !strings.Contains(err.Error(), test.want):
				t.Errorf("got the error %v, want %q", err, test.want)
			case err == nil && got != test.want:
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			if !regexp.MustCompile(test.log).MatchString(log.String()) {
				t.Errorf("the log has %s", log.String())
			}
			if test.log == "" && strings.Contains(log.String(), "WARN") {
				t.Errorf("a warning: %s", log.String())
			}
		})
	}
}

// A dialect is its text.
func TestDialect(t *testing.T) {
	for _, text := range []string{"", "delimiter=tab", "delimiter=,", "delimiter=,,quote=none", "delimiter=;,quote=',escape=\\,comment=#,header=3,strict", "header=none"} {
		d, err := ParseDialect(text)
		if err != nil || d.String() != text {
			t.Errorf("%q: got %q, %v", text, d.String(), err)
		}
	}
	if d, err := ParseDialect("delimiter=comma,escape=backslash"); err != nil || d != (Dialect{Delimiter: ",", Escape: `\`}) {
		t.Errorf("got %+v, %v", d, err)
	}
	for _, text := range []string{"delimiter=", "delimiter=ab", "quote=ü", "header=0", "header=x", "strict=1", "tab", `delimiter="`, "delimiter=;,quote=;"} {
		if d, err := ParseDialect(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, d)
		}
	}
	var option *OptionError
	if _, err := Open(t.Context(), Options{Paths: []string{"x"}, Dialect: Dialect{Quote: "''"}}); !errors.As(err, &option) || option.Option != "Dialect" {
		t.Errorf("got %v", err)
	}
}
