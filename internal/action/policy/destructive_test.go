package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
)

func TestLosses(t *testing.T) {
	for command, want := range map[string]string{
		"git reset --hard":               "anywhere tracked",
		"git -C sub reset --hard HEAD~1": "anywhere tracked",
		"git reset --soft HEAD~1":        "",
		"git clean -fdx":                 "anywhere",
		"git clean -n":                   "",
		"git clean -fX -- data":          "data",
		"git checkout -- a.txt b":        "a.txt b",
		"git checkout -b new":            "",
		"git restore .":                  "anywhere tracked",
		"git restore --staged a":         "",
		"git switch main":                "",
		"git switch -f main":             "anywhere",
		"git stash":                      "anywhere",
		"git stash drop":                 "anywhere tracked entry",
		"git stash list":                 "",
		"git gc --prune=now":             "anywhere tracked repository",
		"git rm -r dir":                  "anywhere tracked",
		"git status":                     "",
		"rm -rf build dist":              "build dist repository",
		"rm *.txt":                       "anywhere repository",
		"rm \"$X\"":                      "anywhere repository",
		"cd sub && rm a":                 "sub/a repository",
		"sudo rm -r x":                   "x repository",
		"bash -c 'rm -r x'":              "x repository",
		"ls | xargs rm":                  "anywhere repository",
		"find . -name '*.o' -delete":     "anywhere",
		"find . -name '*.o'":             "",
		"mv a b":                         "a b repository",
		"cp a b":                         "a b over",
		"echo x > out.txt":               "out.txt over",
		"echo x >> out.txt":              "out.txt over",
		"echo x > /dev/null":             "",
		": > f":                          "f over",
		"truncate -s 0 f":                "0 f over",
		"dd if=a of=b":                   "b over",
		"dd if=a":                        "",
		"sed -i s/a/b/ f":                "s/a/b/ f repository",
		"sed s/a/b/ f":                   "",
		"tee f":                          "f over",
		"tee -a f":                       "",
		"ln -sf a b":                     "a b over",
		"ln -s a b":                      "",
		"rsync -a --delete a/ b/":        "a/ b/",
		"tar xzf a.tgz":                  "anywhere",
		"tar czf a.tgz b":                "",
		"make clean":                     "anywhere",
		"make":                           "",
		"go test ./...":                  "",
		"perl -pi -e s/a/b/ f":           "s/a/b/ f repository",
	} {
		var got []string
		for _, l := range Losses(shellread.Read(command, shellread.Bash)) {
			s := strings.Join(l.Targets, " ")
			if l.Anywhere {
				s = "anywhere"
			}
			for _, f := range []struct {
				is   bool
				name string
			}{{l.Over, "over"}, {l.Tracked, "tracked"}, {l.Repository, "repository"}, {l.Entry != "", "entry"}} {
				if f.is {
					s += " " + f.name
				}
			}
			if l.Reason == "" {
				t.Errorf("%s: a loss without a reason", command)
			}
			if len(got) == 0 || got[len(got)-1] != s {
				got = append(got, s)
			}
		}
		if fmt.Sprint(strings.Join(got, "; ")) != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestBeyond(t *testing.T) {
	for command, want := range map[string]string{
		"git push --force origin main":  "changes another repository",
		"curl -X POST http://a.test":    "sends to or fetches from the network",
		"rm a && kill 12; docker rm x":  "starts, stops or signals processes and services; acts on containers",
		"npm publish":                   "publishes a package",
		"npm test":                      "",
		"git status":                    "",
		"git commit -m 'x' && git push": "changes the repository's own state; changes another repository",
		"bash -c 'psql -c \"drop x\"'":  "changes a database",
		"ls":                            "",
	} {
		if got := strings.Join(Beyond(shellread.Read(command, shellread.Bash)), "; "); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
