package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials writes the modules of the binaries, as these list them, with licences and checksums, in CycloneDX.
func (r *release) billOfMaterials() error {
	main := component(cyclonedx.ComponentTypeApplication, "github.com/bulkcat/bulkcat", r.tag, "Apache-2.0")
	var (
		list []cyclonedx.Component
		refs []string
	)
	for _, m := range r.linked {
		c := component(cyclonedx.ComponentTypeLibrary, m.path, m.version, m.licences...)
		if m.sum != "" {
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: m.sum}}
		}
		list, refs = append(list, c), append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	bom.Components = &list
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	f, err := os.Create(filepath.Join(r.out, "bulkcat_"+r.version+".cdx.json"))
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	return errors.Join(encoder.Encode(bom), f.Close())
}

func component(kind cyclonedx.ComponentType, path, version string, licences ...string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + version
	var list cyclonedx.Licenses
	for _, id := range licences {
		list = append(list, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	return cyclonedx.Component{Type: kind, BOMRef: purl, Name: path, Version: version, PackageURL: purl, Licenses: &list}
}
