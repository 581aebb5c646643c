using System.Reflection;

namespace FastPort.Site;

/// <summary>The libraries that the API reference documents: those that this program references.</summary>
internal static class Libraries
{
    private static readonly Assembly Self = typeof(Libraries).Assembly;

    public static string Folder { get; } = AppContext.BaseDirectory;

    public static IReadOnlyList<Assembly> All { get; } =
    [
        .. Directory.GetFiles(Folder, "FastPort.*.dll").Select(static file => Path.GetFileNameWithoutExtension(file))
            .Where(static name => name != Self.GetName().Name)
            .Order(StringComparer.Ordinal)
            .Select(Assembly.Load),
    ];

    public static string Version { get; } = Metadata("Version")!;

    /// <summary>The address of the repository on a host of Git; null if it is not known.</summary>
    public static string? RepositoryUrl { get; } = Metadata("SiteRepositoryUrl") is { Length: > 0 } url ? url.TrimEnd('/') : null;

    /// <summary>The public types, except those that only the compiler of .proto files uses.</summary>
    public static IEnumerable<Type> Types(Assembly library) =>
        library.GetExportedTypes().Where(static type => !type.Name.EndsWith("Reflection", StringComparison.Ordinal));

    /// <summary>The name of a type in documentation comments, which docfx uses too.</summary>
    public static string Id(Type type) => type.FullName!.Replace('+', '.');

    private static string? Metadata(string key) =>
        Self.GetCustomAttributes<AssemblyMetadataAttribute>().FirstOrDefault(one => one.Key == key)?.Value;
}
