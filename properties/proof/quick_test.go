package proof

import (
	"context"
	"testing"
	"time"
)

func TestQuick(t *testing.T) {
	for _, th := range All() {
		for _, p := range th.Parts {
			start := time.Now()
			f, err := goPart(context.Background(), p, DefaultDomain(), 0, nil)
			t.Logf("%s/%s: %v settings %d claims %d refuted %v held %v broken %q %v err %v", th.Name, p.Name, time.Since(start).Round(time.Millisecond), f.settings, f.claims, f.refuted, f.held, f.broken, f.brokenAt, err)
		}
	}
}
