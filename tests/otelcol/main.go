// Command otelcol is the OpenTelemetry Collector with only the components that errorsink's tests need.
//
// Its own telemetry is a plain zap logger on stderr: the stock implementation brings 117 more packages to
// compile, and the tests read nothing from it but the log.
//
// All modules are of release 0.159.0, but for the datadogreceiver (0.158.0, the newest one to be had from the
// module proxy) and a helper of its own (hostname/validate, whose required version isn't in the checksum database).
package main

import (
	"context"
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/bearertokenauthextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/datadogreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
)

// telemetryConfig is empty: the collector's own telemetry has nothing to set.
type telemetryConfig struct{}

func newLogger(
	_ context.Context, settings telemetry.LoggerSettings, _ component.Config,
) (*zap.Logger, component.ShutdownFunc, error) {
	build := settings.BuildZapLogger
	if build == nil {
		build = zap.Config.Build
	}
	config := zap.NewProductionConfig()
	config.Encoding = "console"
	config.EncoderConfig = zap.NewDevelopmentEncoderConfig()
	config.Sampling = nil
	logger, err := build(config)
	return logger, nil, err
}

func components() (otelcol.Factories, error) {
	factories := otelcol.Factories{
		Telemetry: telemetry.NewFactory(
			func() component.Config { return &telemetryConfig{} },
			telemetry.WithCreateLogger(newLogger),
		),
	}
	var err error
	if factories.Receivers, err = otelcol.MakeFactoryMap[receiver.Factory](
		datadogreceiver.NewFactory(), otlpreceiver.NewFactory(),
	); err != nil {
		return factories, err
	}
	if factories.Processors, err = otelcol.MakeFactoryMap[processor.Factory](memorylimiterprocessor.NewFactory()); err != nil {
		return factories, err
	}
	if factories.Exporters, err = otelcol.MakeFactoryMap[exporter.Factory](
		debugexporter.NewFactory(), fileexporter.NewFactory(),
	); err != nil {
		return factories, err
	}
	factories.Extensions, err = otelcol.MakeFactoryMap[extension.Factory](bearertokenauthextension.NewFactory())
	return factories, err
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol", Description: "Collector of errorsink's tests", Version: "0.159.0"},
		Factories: components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
				DefaultScheme:     "file",
			},
		},
	})
	if err := command.Execute(); err != nil {
		log.Fatal(err)
	}
}
