#!/usr/bin/env bash
# Package:  Microsoft.Extensions.Configuration.Binder 10.0.0, .NET 10.0.
# Guess:    keys do not distinguish case, so a later source that sets "LINES:PRESS:SPEED" changes a value of the section "Lines:press",
#           which keeps its name.
# Behavior: the name is that of the last source that has the section: GetChildren and a bound dictionary have "PRESS" only. The values
#           that the later source does not set are found under the new name. (dotnet/runtime#130306, open, would keep the first name.)
# Matters:  where the keys of a section are names (of endpoints, queues, lines), setting one value of one of them, as in an environment
#           variable in upper case, renames it for all code that compares names by ordinals.
# Output seen:
#   one source:  press = 1, 2
#   two sources: PRESS = 9, 2
#   bound:       press False, PRESS True
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1 NUGET_PACKAGES="$work/packages"
cat > finding.csproj <<'END'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <Nullable>enable</Nullable>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Microsoft.Extensions.Configuration.Binder" Version="[10.0.0]" />
  </ItemGroup>
</Project>
END
cat > Program.cs <<'END'
using Microsoft.Extensions.Configuration;

Dictionary<string, string?> first = new() { ["Lines:press:Speed"] = "1", ["Lines:press:Limit"] = "2" };
Dictionary<string, string?> later = new() { ["LINES:PRESS:SPEED"] = "9" };

IConfigurationRoot one = new ConfigurationBuilder().AddInMemoryCollection(first).Build();
IConfigurationRoot two = new ConfigurationBuilder().AddInMemoryCollection(first).AddInMemoryCollection(later).Build();
Console.WriteLine($"one source:  {Describe(one)}");
Console.WriteLine($"two sources: {Describe(two)}");

var lines = two.GetSection("Lines").Get<Dictionary<string, Line>>()!;
Console.WriteLine($"bound:       press {lines.ContainsKey("press")}, PRESS {lines.ContainsKey("PRESS")}");

static string Describe(IConfiguration from) => string.Join(
    "; ", from.GetSection("Lines").GetChildren().Select(line => $"{line.Key} = {line["Speed"]}, {line["Limit"]}"));

internal sealed class Line
{
    public int Speed { get; set; }

    public int Limit { get; set; }
}
END
dotnet build -v quiet
dotnet run --no-build > seen
cat seen
diff - seen <<'END'
one source:  press = 1, 2
two sources: PRESS = 9, 2
bound:       press False, PRESS True
END
