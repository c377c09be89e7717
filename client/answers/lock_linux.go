package answers

import (
	"golang.org/x/sys/unix"
)

const setOwnLock = unix.F_OFD_SETLK

// systems are the network and FUSE file systems by their f_type in statfs(2).
var systems = map[uint32]string{
	0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb2", 0x517b: "smb", 0x0bd00bd0: "lustre", 0x65735546: "fuse", 0x01021997: "9p",
	0x00c36400: "ceph", 0x47504653: "gpfs", 0x5346414f: "afs", 0x19830326: "beegfs", 0x7461636f: "ocfs2", 0x01161970: "gfs2",
}

func systemOf(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return systems[uint32(s.Type)]
}
