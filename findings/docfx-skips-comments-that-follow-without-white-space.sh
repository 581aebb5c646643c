#!/usr/bin/env bash
# Package:  docfx 2.81.0 (a .NET tool), the metadata of assemblies with their files of XML documentation comments.
# Guess:    white space between the members of such a file means nothing, as in any XML data. The compiler writes some; a program that has
#           rewritten the file (shortened it, merged two, added members) need not.
# Behavior: of members that follow each other without white space, docfx reads every second one (the type is the first here). The others
#           have no summary in the reference, without a warning.
# Matters:  wherever a build step writes these files again, such as with XDocument.Save and SaveOptions.DisableFormatting.
# Output seen:
#   as the compiler writes it: Add Divide Multiply Subtract
#   without white space between members: Divide Subtract
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
dotnet tool install docfx --version 2.81.0 --tool-path tools >tool.log || { cat tool.log; exit 1; }
mkdir library
cat > library/Finding.csproj <<'EOF'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>net10.0</TargetFramework>
    <GenerateDocumentationFile>true</GenerateDocumentationFile>
  </PropertyGroup>
</Project>
EOF
cat > library/Finding.cs <<'EOF'
namespace Findings;

/// <summary>Arithmetic.</summary>
public static class Finding
{
    /// <summary>The sum.</summary>
    public static int Add(int a, int b) => a + b;

    /// <summary>The quotient.</summary>
    public static int Divide(int a, int b) => a / b;

    /// <summary>The product.</summary>
    public static int Multiply(int a, int b) => a * b;

    /// <summary>The difference.</summary>
    public static int Subtract(int a, int b) => a - b;
}
EOF
dotnet build library -c Release -o out --nologo -v quiet >build.log 2>&1 || { cat build.log; exit 1; }
cat > docfx.json <<'EOF'
{ "metadata": [{ "src": [{ "src": "out", "files": ["Finding.dll"] }], "output": "api" }] }
EOF

# The methods that have a summary.
documented() {
  rm -rf api
  tools/docfx metadata docfx.json >docfx.log 2>&1 || { cat docfx.log >&2; exit 1; }
  grep -q '0 warning(s)' docfx.log || { cat docfx.log >&2; exit 1; }
  awk '/^- uid: / { name = $3 } /^  summary: The/ { sub(/.*Finding\./, "", name); sub(/\(.*/, "", name); print name }' \
    api/Findings.Finding.yml | sort | paste -sd ' '
}

seen="as the compiler writes it: $(documented)"
tr -d '\n' < out/Finding.xml | sed 's/> *</></g' > short.xml
mv short.xml out/Finding.xml
seen+=$'\n'"without white space between members: $(documented)"
echo "$seen"
expected='as the compiler writes it: Add Divide Multiply Subtract
without white space between members: Divide Subtract'
[[ "$seen" == "$expected" ]] || { echo "The behavior has changed."; exit 1; }
echo "As found: every second member has no summary."
