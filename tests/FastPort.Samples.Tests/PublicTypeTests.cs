using System.Diagnostics.CodeAnalysis;
using System.Reflection;
using System.Text.RegularExpressions;
using FastPort.Connections;
using FastPort.Protocol;
using FastPort.Tags;
using FastPort.Tags.OpcUa;
using FastPort.Testing;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>Every public type has one place in docs/public-api.md, under the people who need it, and every type there is public.</summary>
public sealed partial class PublicTypeTests
{
    [Fact]
    public void Every_public_type_is_listed_once()
    {
        IEnumerable<string> listed = Lines("| ").SelectMany(static line => NamesIn(line));

        IEnumerable<string> exported = Exported().Select(static type => type.Name.Split('`')[0]).Distinct().Concat(Declared());

        Assert.Equal(exported.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Every_experimental_type_is_listed_as_such()
    {
        IEnumerable<string> listed = Lines("- for a ").SelectMany(static line => NamesIn(line));

        IEnumerable<string> marked = Exported()
            .Where(static type => type.GetCustomAttribute<ExperimentalAttribute>() is { DiagnosticId: "FASTPORT001" })
            .Select(static type => type.Name);

        Assert.Equal(marked.Order(StringComparer.Ordinal), listed.Order(StringComparer.Ordinal));
    }

    private static IEnumerable<string> Lines(string start) =>
        File.ReadAllLines(Path.Combine(Repository.Root, "docs", "public-api.md"))
            .Where(line => line.StartsWith(start, StringComparison.Ordinal));

    private static IEnumerable<Type> Exported()
    {
        Assembly[] assemblies =
        [
            typeof(Connection).Assembly, typeof(FastPortServer).Assembly, typeof(BytesFields).Assembly, typeof(TagServer).Assembly,
            typeof(OpcUaTagsOptions).Assembly, typeof(TestServer).Assembly,
        ];
        return assemblies
            .SelectMany(static assembly => assembly.GetExportedTypes())
            .Where(static type => !type.IsNested && !IsGenerated(type));
    }

    // Of the libraries for Aspire, whose assemblies need those of Aspire.
    private static IEnumerable<string> Declared() => new[] { "FastPort.Aspire.Hosting", "FastPort.Aspire.Client" }
        .SelectMany(static library => Directory.GetFiles(Path.Combine(Repository.Root, "src", library), "PublicAPI.*.txt"))
        .SelectMany(File.ReadAllLines)
        .Where(static line => TypeLine().IsMatch(line))
        .Select(static line => line.Split('.')[^1]);

    private static IEnumerable<string> NamesIn(string line) => Name().Matches(line).Select(static name => name.Groups[1].Value);

    // Messages of .proto files are the protocol, not this library's surface.
    private static bool IsGenerated(Type type) =>
        type.GetInterface("Google.Protobuf.IMessage") is not null || type.Name.EndsWith("Reflection", StringComparison.Ordinal);

    [GeneratedRegex(@"^[\w.]+$")]
    private static partial Regex TypeLine();

    [GeneratedRegex("`(\\w+)`")]
    private static partial Regex Name();
}
