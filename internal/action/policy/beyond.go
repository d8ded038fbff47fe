package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

// beyonds are effects outside of the working directories, which no rewind of
// files undoes: a reason, and the programs that have it.
var beyonds = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for reason, names := range map[string]string{
		"sends to or fetches from the network":            "curl wget http httpie xh ssh scp sftp ftp nc ncat netcat telnet rclone aria2c mail sendmail mutt",
		"acts on a remote service":                        "gh glab hub aws gcloud gsutil az heroku flyctl vercel netlify terraform tofu pulumi ansible ansible-playbook kubectl helm doctl wrangler firebase",
		"acts on containers":                              "docker podman nerdctl docker-compose buildah",
		"starts, stops or signals processes and services": "kill pkill killall systemctl service launchctl supervisorctl pm2 nohup setsid at crontab",
		"changes a database":                              "psql mysql mariadb mongo mongosh redis-cli sqlcmd sqlplus cqlsh dropdb createdb",
		"changes what is installed on the machine":        "apt apt-get dpkg yum dnf rpm pacman apk zypper snap flatpak brew port choco winget",
		"changes the machine":                             "mount umount mkfs fdisk parted useradd userdel usermod passwd chown iptables nft ip sysctl modprobe reboot shutdown",
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = reason
		}
	}
	return out
})

// beyondForms are programs that reach further only in some forms.
var beyondForms = sync.OnceValue(func() map[string]map[string]string {
	publish := "publishes a package"
	return map[string]map[string]string{
		"git": {
			"push": "changes another repository", "fetch": "changes the repository's remote branches", "pull": "changes the repository's own state",
			"commit": "changes the repository's own state", "reset": "changes the repository's own state", "rebase": "changes the repository's own state",
			"merge": "changes the repository's own state", "branch": "changes the repository's own state", "tag": "changes the repository's own state",
			"stash": "changes the repository's own state", "checkout": "changes the repository's own state", "switch": "changes the repository's own state",
			"restore": "changes the repository's own state", "add": "changes the repository's own state", "rm": "changes the repository's own state", "mv": "changes the repository's own state",
			"cherry-pick": "changes the repository's own state", "revert": "changes the repository's own state", "am": "changes the repository's own state",
			"gc": "changes the repository's own state", "prune": "changes the repository's own state", "config": "changes the repository's own state",
			"init": "changes the repository's own state", "clone": "fetches from the network", "remote": "changes the repository's own state",
			"submodule": "changes the repository's own state", "worktree": "changes the repository's own state",
		},
		"npm": {"publish": publish}, "yarn": {"publish": publish}, "pnpm": {"publish": publish}, "cargo": {"publish": publish},
		"gem": {"push": publish}, "twine": {"upload": publish}, "poetry": {"publish": publish},
	}
})

// Beyond lists the effects of a command that no rewind of files undoes, as far
// as they are known.
func Beyond(f *shellread.Facts) []string {
	var out []string
	add := func(reason string) {
		if reason != "" && !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	for i := range f.Parts {
		p := &f.Parts[i]
		if p.Class == shellread.ReadOnly || len(p.Words) <= p.Start {
			continue
		}
		add(beyonds()[p.Name])
		for _, a := range wordTexts(p.Words[p.Start+1:]) {
			if !strings.HasPrefix(a, "-") {
				add(beyondForms()[p.Name][a])
				break
			}
		}
	}
	return out
}
