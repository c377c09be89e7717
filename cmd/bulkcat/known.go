package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/statefolder"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// mostKnown is the most stores in the list: enough for a user's projects, and quick to check.
const mostKnown = 20

// listedStores returns the list of the user's stores other than answers.UserFile, and the stores in it that exist. The list has
// one path per line, the latest last. It is "" if the user has no state folder.
func listedStores() (list string, stores []string) {
	folder, err := statefolder.Path()
	if err != nil {
		return "", nil
	}
	list = filepath.Join(folder, "stores")
	text, _ := os.ReadFile(list) // a list that cannot be read is made anew
	for line := range strings.Lines(string(text)) {
		if path := strings.TrimSuffix(line, "\n"); filepath.IsAbs(path) && answers.IsStore(path) {
			stores = append(stores, path)
		}
	}
	return list, stores
}

// knownStores returns the user's stores that exist: the last mostKnown of rememberStore, then answers.UserFile.
func knownStores() []string {
	_, stores := listedStores()
	if user, err := answers.UserFile(); err == nil && answers.IsStore(user) {
		stores = append(stores, user)
	}
	return stores
}

// rememberStore adds a store, an absolute path, to the stores that knownStores returns.
func rememberStore(path string) {
	list, stores := listedStores()
	if user, _ := answers.UserFile(); path == user || slices.Contains(stores, path) || strings.ContainsAny(path, "\r\n") || statefolder.Make() != nil {
		return
	}
	stores = append(stores, path)
	stores = stores[max(0, len(stores)-mostKnown):]
	_ = disk.PublishFile(list, []byte(strings.Join(stores, "\n")+"\n")) // the next run tries again, also if another process has replaced the list
}
