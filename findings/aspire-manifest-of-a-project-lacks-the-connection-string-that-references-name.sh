#!/usr/bin/env bash
# Package:  Aspire.Hosting 13.6.5 and Aspire.AppHost.Sdk 13.6.4, .NET 10 SDK.
# Guess:    a resource that implements IResourceWithConnectionString has a connectionString in the manifest, so that what WithReference
#           writes for its clients, {name.connectionString}, means something, whatever else the resource is.
# Behavior: an executable has the field. A project has not: the manifest refers to a field that it does not contain.
# Matters:  a hosting integration whose resource derives from ProjectResource works while the AppHost runs it, and its clients have no
#           connection string where a tool deploys the manifest. The endpoint's own references, {name.bindings...}, work.
# Output seen:
#   executable: referenced by "{executable.connectionString}", has the field: 1
#   project: referenced by "{project.connectionString}", has the field: 0
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 MSBUILDDISABLENODEREUSE=1
cat > finding.csproj <<'END'
<Project Sdk="Aspire.AppHost.Sdk/13.6.4">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <ImplicitUsings>enable</ImplicitUsings>
    <NoWarn>$(NoWarn);ASPIRE010;NU1603</NoWarn>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Aspire.Hosting.AppHost" Version="13.6.5" />
  </ItemGroup>
</Project>
END
cat > Program.cs <<'END'
var builder = DistributedApplication.CreateBuilder(args);
var executable = builder.AddResource(new StoreExecutable("executable")).WithEndpoint(scheme: "tcp", name: "tcp", targetPort: 1000);
var project = builder.AddResource(new StoreProject("project")).WithAnnotation(new StoreMetadata())
    .WithEndpoint(scheme: "tcp", name: "tcp", targetPort: 1000);
builder.AddExecutable("client", "client", ".")
    .WithReference((IResourceBuilder<IResourceWithConnectionString>)executable)
    .WithReference((IResourceBuilder<IResourceWithConnectionString>)project);
builder.Build().Run();

class StoreExecutable(string name) : ExecutableResource(name, "store", "."), IResourceWithConnectionString
{
    public ReferenceExpression ConnectionStringExpression =>
        ReferenceExpression.Create($"Endpoint={this.GetEndpoint("tcp").Property(EndpointProperty.Url)}");
}

class StoreProject(string name) : ProjectResource(name), IResourceWithConnectionString
{
    public ReferenceExpression ConnectionStringExpression =>
        ReferenceExpression.Create($"Endpoint={this.GetEndpoint("tcp").Property(EndpointProperty.Url)}");
}

class StoreMetadata : IProjectMetadata
{
    public string ProjectPath => Path.GetFullPath("finding.csproj");
}
END
dotnet run -v quiet -- --operation publish --step publish-manifest --output-path out > log.txt 2>&1 || { cat log.txt; exit 1; }
for kind in executable project; do
  reference=$(sed -n "s/.*\"ConnectionStrings__$kind\": \(\"[^\"]*\"\).*/\1/p" out/aspire-manifest.json)
  fields=$(sed -n "/^    \"$kind\": {/,/^    }/p" out/aspire-manifest.json | grep -c '"connectionString"' || true)
  echo "$kind: referenced by $reference, has the field: $fields"
done | tee seen.txt
grep -qx 'executable: referenced by "{executable.connectionString}", has the field: 1' seen.txt
grep -qx 'project: referenced by "{project.connectionString}", has the field: 0' seen.txt
