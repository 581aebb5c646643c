#!/usr/bin/env bash
# Package:  OpenTelemetry 1.20.1 (NuGet), the metrics SDK, with its in-memory exporter.
# Guess:    two Meter objects are independent. Disposing one ends its own series, and the other one's go on.
# Behavior: meters of one name, version and set of tags share one metric per instrument name. When the first of them is disposed the metric
#           is retired: from the second collection on the other meter's series are gone too, though that meter lives and is observed.
#           Meters whose tags differ have a metric each, and are not affected.
# Matters:  wherever a process hosts two servers, or a test suite two hosts, whose libraries create a meter of the same name each.
# Output seen:
#   same tags, both meters: line=a line=b
#   same tags, first meter disposed: (none)
#   other tags, both meters: line=a line=b
#   other tags, first meter disposed: line=b
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
cat > finding.csproj <<'EOF'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="OpenTelemetry" Version="1.20.1" />
    <PackageReference Include="OpenTelemetry.Exporter.InMemory" Version="1.20.1" />
  </ItemGroup>
</Project>
EOF
cat > Program.cs <<'EOF'
using System.Diagnostics.Metrics;
using OpenTelemetry;
using OpenTelemetry.Metrics;

Try("same tags", "plant", "plant");
Try("other tags", "north", "south");

static void Try(string what, string firstSite, string secondSite)
{
    var exported = new List<Metric>();
    using MeterProvider provider = Sdk.CreateMeterProviderBuilder().AddMeter("pumps").AddInMemoryExporter(exported).Build();
    var first = new Meter("pumps", "1.0", [new("site", firstSite)]);
    using var second = new Meter("pumps", "1.0", [new("site", secondSite)]);
    first.CreateObservableGauge("pressure", () => new Measurement<int>(1, new KeyValuePair<string, object>("line", "a")));
    second.CreateObservableGauge("pressure", () => new Measurement<int>(2, new KeyValuePair<string, object>("line", "b")));
    Console.WriteLine($"{what}, both meters: {Collect(provider, exported)}");
    first.Dispose();

    // The collection after the disposal still has what is retired.
    Collect(provider, exported);
    Console.WriteLine($"{what}, first meter disposed: {Collect(provider, exported)}");
}

static string Collect(MeterProvider provider, List<Metric> exported)
{
    exported.Clear();
    provider.ForceFlush();
    List<string> series = [];
    foreach (Metric metric in exported)
    {
        foreach (ref readonly MetricPoint point in metric.GetMetricPoints())
        {
            foreach (KeyValuePair<string, object> tag in point.Tags)
            {
                series.Add($"{tag.Key}={tag.Value}");
            }
        }
    }

    return series.Count == 0 ? "(none)" : string.Join(' ', series.Order());
}
EOF
dotnet build -c Release -o out --nologo -v quiet >build.log 2>&1 || { cat build.log; exit 1; }
expected='same tags, both meters: line=a line=b
same tags, first meter disposed: (none)
other tags, both meters: line=a line=b
other tags, first meter disposed: line=b'
seen=$(dotnet out/finding.dll)
echo "$seen"
[[ "$seen" == "$expected" ]] || { echo "The behavior has changed."; exit 1; }
echo "As found: the living meter's series ended with its namesake's disposal."
