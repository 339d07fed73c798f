// Writes metrics with Telegraf's own serializers: its line protocol, and its JSON, one metric a message or a batch.
//
//	telegraf_messages influx|json|json-batch < METRICS > MESSAGES
//
// METRICS is a line of JSON for each batch: a list of {"name", "tags", "fields", "time_ns"}, in which a number without a point
// is an integer. MESSAGES are a line in hex for each message.
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/influxdata/telegraf"
	"github.com/influxdata/telegraf/metric"
	"github.com/influxdata/telegraf/plugins/serializers/influx"
	telegrafjson "github.com/influxdata/telegraf/plugins/serializers/json"
)

type order struct {
	Name   string                 `json:"name"`
	Tags   map[string]string      `json:"tags"`
	Fields map[string]interface{} `json:"fields"`
	TimeNs int64                  `json:"time_ns"`
}

func (o order) metric() (telegraf.Metric, error) {
	fields := make(map[string]interface{}, len(o.Fields))
	for name, value := range o.Fields {
		fields[name] = value
		number, isNumber := value.(json.Number)
		if !isNumber {
			continue
		}
		var err error
		if strings.ContainsAny(number.String(), ".eE") {
			fields[name], err = number.Float64()
		} else {
			fields[name], err = number.Int64()
		}
		if err != nil {
			return nil, err
		}
	}
	return metric.New(o.Name, o.Tags, fields, time.Unix(0, o.TimeNs)), nil
}

// What is used of Telegraf's interface of this name, whose package imports the serializers of all formats.
type serializer interface {
	Serialize(telegraf.Metric) ([]byte, error)
	SerializeBatch([]telegraf.Metric) ([]byte, error)
}

func serializerOf(format string) (serializer, error) {
	if format == "influx" {
		return influx.NewSerializer(), nil
	}
	return telegrafjson.NewSerializer(telegrafjson.FormatConfig{TimestampUnits: time.Millisecond})
}

func run(format string) error {
	made, err := serializerOf(format)
	if err != nil {
		return err
	}
	lines := json.NewDecoder(os.Stdin)
	lines.UseNumber()
	for {
		var batch []order
		if err := lines.Decode(&batch); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		metrics := make([]telegraf.Metric, 0, len(batch))
		for _, its := range batch {
			one, err := its.metric()
			if err != nil {
				return err
			}
			metrics = append(metrics, one)
		}
		if format != "json" {
			message, err := made.SerializeBatch(metrics)
			if err != nil {
				return err
			}
			fmt.Println(hex.EncodeToString(message))
			continue
		}
		for _, its := range metrics {
			message, err := made.Serialize(its)
			if err != nil {
				return err
			}
			fmt.Println(hex.EncodeToString(message))
		}
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: telegraf_messages influx|json|json-batch")
		os.Exit(64)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
