package modeltable

import "testing"

func TestModelsOfOtherMakersHaveFigures(t *testing.T) {
	for _, name := range []string{"openai", "gemini", "openrouter", "deepseek"} {
		list := Models(name)
		if len(list) == 0 {
			t.Fatalf("%s: no models", name)
		}
		for _, m := range list {
			p := m.Price
			if m.Window <= 0 || p.CacheRead > p.Input || p.CacheWrite < p.CacheRead {
				t.Errorf("%s: %+v", m.ID, m)
			}
			if got, ok := FindModel(name, m.ID[len(name)+1:]); !ok || got.ID != m.ID {
				t.Errorf("%s is not found by its name", m.ID)
			}
		}
	}
	if _, ok := FindModel("openai", "no-such-model"); ok {
		t.Error("an unknown model was found")
	}
	if e, ok := FindEndpoint("xai"); !ok || e.BaseURL == "" || e.KeyVariable != "XAI_API_KEY" || !e.Compatible {
		t.Errorf("%+v", e)
	}
}
