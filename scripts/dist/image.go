package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// images writes a container image for each processor, for docker load and podman load. An image has the binary, the certificate
// authorities of Mozilla, a user without rights, and /tmp and /work, to which any user can write. With a read-only root, commands
// can only write to volumes, and need a volume for temporary files.
func (r *release) images() error {
	for _, p := range platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return err
		}
		tag, err := name.NewTag("bulkcat/bulkcat:" + r.version)
		if err != nil {
			return err
		}
		if err := tarball.WriteToFile(filepath.Join(r.out, "bulkcat_"+r.version+"_image_"+p.arch+".tar"), tag, image); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) image(p platform) (v1.Image, error) {
	files, err := r.imageFiles(p)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(files, r.time)
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	if err := writeTar(&content, tree); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content.Bytes())), nil
	}, tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.OS, config.Architecture, config.Created = p.os, p.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/bulkcat"}, User: "65532:65532", WorkingDir: "/work",
		Env: []string{"PATH=/usr/bin", "HOME=/work"},
		Labels: map[string]string{
			"org.opencontainers.image.source": homepage, "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.description": summary,
		},
	}
	return mutate.ConfigFile(image, config)
}

func (r *release) imageFiles(p platform) ([]file, error) {
	const anyUser = fs.ModeDir | fs.ModeSticky | 0o777
	files := []file{
		{r.binary(p), "usr/bin/bulkcat", 0o755}, {filepath.Join(r.work, noticesName), "usr/share/doc/bulkcat/" + noticesName, 0o644},
		{filepath.Join(r.root, "LICENSE"), "usr/share/doc/bulkcat/LICENSE", 0o644}, {"", "tmp", anyUser}, {"", "work", anyUser},
	}
	for _, made := range []struct{ path, text string }{
		{"etc/group", "bulkcat:x:65532:\n"},
		{"etc/passwd", "bulkcat:x:65532:65532::/work:/sbin/nologin\n"},
		{"etc/ssl/certs/ca-certificates.crt", authorities()},
	} {
		source := filepath.Join(r.work, filepath.Base(made.path))
		if err := os.WriteFile(source, []byte(made.text), 0o666); err != nil {
			return nil, err
		}
		files = append(files, file{source, made.path, 0o644})
	}
	return files, nil
}

// authorities returns the certificate authorities in PEM. It leaves out authorities that are limited to certain certificates,
// because a file of certificates cannot have such limits.
func authorities() string {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.String()
}
