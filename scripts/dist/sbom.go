package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials writes the modules of the binary for Linux, as the binary itself lists them, in CycloneDX. The
// binaries for other systems have the same modules or some less.
func (r *release) billOfMaterials() error {
	info, err := buildinfo.ReadFile(r.binary(platforms[0]))
	if err != nil {
		return err
	}
	main := component(cyclonedx.ComponentTypeApplication, info.Main.Path, r.tag)
	main.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}}
	list := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "std", info.GoVersion)}
	refs := []string{list[0].BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cyclonedx.ComponentTypeLibrary, m.Path, m.Version)
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

func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	purl := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{Type: kind, BOMRef: purl, Name: path, Version: version, PackageURL: purl}
}
