package search

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// propertySet resolves the inside of \p{…}: a general category, script or
// binary property, loosely matched (case, spaces, '-' and '_' do not count),
// optionally with a key as in "Script=Greek".
func propertySet(name string) (runeSet, bool) {
	key, value, keyed := strings.Cut(name, "=")
	if !keyed {
		key, value, keyed = strings.Cut(name, ":")
	}
	if !keyed {
		return lookupProperty(looseName(name))
	}
	value = looseName(value)
	switch looseName(key) {
	case "sc", "script", "scx", "scriptextensions":
		t, ok := scriptTables()[value]
		if !ok {
			return nil, false
		}
		return tableSet(t), true
	case "gc", "generalcategory":
		t, ok := categoryTables()[value]
		if !ok {
			return nil, false
		}
		return tableSet(t), true
	}
	return nil, false
}

func lookupProperty(name string) (runeSet, bool) {
	switch name {
	case "any":
		return runeSet{{0, utf8.MaxRune}}, true
	case "ascii":
		return runeSet{{0, 0x7f}}, true
	case "assigned":
		return tableSet(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C), true
	case "alphabetic", "alpha":
		return alphabeticSet(), true
	case "lowercase", "lower":
		return tableSet(unicode.Ll, unicode.Other_Lowercase), true
	case "uppercase", "upper":
		return tableSet(unicode.Lu, unicode.Other_Uppercase), true
	case "space", "whitespace":
		return spaceSet(), true
	}
	for _, tables := range []map[string]*unicode.RangeTable{categoryTables(), scriptTables(), binaryTables()} {
		if t, ok := tables[name]; ok {
			return tableSet(t), true
		}
	}
	return nil, false
}

func looseName(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

func looseTables(in map[string]*unicode.RangeTable) map[string]*unicode.RangeTable {
	out := make(map[string]*unicode.RangeTable, len(in))
	for name, t := range in {
		out[looseName(name)] = t
	}
	return out
}

var (
	scriptTables   = sync.OnceValue(func() map[string]*unicode.RangeTable { return looseTables(unicode.Scripts) })
	binaryTables   = sync.OnceValue(func() map[string]*unicode.RangeTable { return looseTables(unicode.Properties) })
	categoryTables = sync.OnceValue(func() map[string]*unicode.RangeTable {
		out := looseTables(unicode.Categories)
		for alias, name := range unicode.CategoryAliases {
			out[looseName(alias)] = unicode.Categories[name]
		}
		return out
	})
)
