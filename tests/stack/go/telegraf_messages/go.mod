module tidemark.tests/telegraf

go 1.19

require github.com/influxdata/telegraf v1.25.3

require (
	github.com/blues/jsonata-go v1.5.4 // indirect
	github.com/gobwas/glob v0.2.3 // indirect
)
