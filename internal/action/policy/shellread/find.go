package shellread

import "strings"

const (
	findFlags = " -print -print0 -prune -empty -not -a -and -o -or ! ( ) , -true -false -ls -depth -d -mount -xdev -daystart -nouser -nogroup -readable -writable -executable -noleaf -ignore_readdir_race -nowarn -quit "
	findArgs  = " -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -ctime -cmin -atime -amin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -lname -ilname -fstype -printf -used -newermt -newerct -newerat "
	findFiles = " -newer -anewer -cnewer -samefile -newermm "
)

// judgeFind accepts predicates and printing; every other action, and following
// links, is left out.
func judgeFind(prog *program, words []Word) verdict {
	var paths []PathArg
	for _, w := range words[1:] {
		if !w.Literal() || w.Braced {
			return unknown("an argument is only known at run time, it could become an action")
		}
	}
	i := 1
	for i < len(words) && (words[i].Text == "-P" || words[i].Text == "-H") {
		i++
	}
	for ; i < len(words) && !findExpression(words[i].Text); i++ {
		paths = append(paths, PathArg{Word: words[i]})
	}
	for ; i < len(words); i++ {
		t := words[i].Text
		switch {
		case strings.Contains(findFlags, " "+t+" "):
		case strings.Contains(findArgs, " "+t+" "):
			i++
		case strings.Contains(findFiles, " "+t+" "):
			i++
			if i < len(words) {
				paths = append(paths, PathArg{Word: words[i]})
			}
		default:
			return unknown("the word " + printable(t) + " is not in its grammar")
		}
	}
	if i > len(words) {
		return unknown("the last predicate lacks its value")
	}
	return verdict{class: ReadOnly, why: prog.why, paths: paths}
}

func findExpression(t string) bool {
	return strings.HasPrefix(t, "-") || t == "(" || t == ")" || t == "!" || t == ","
}
