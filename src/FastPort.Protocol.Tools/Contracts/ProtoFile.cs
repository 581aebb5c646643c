namespace FastPort.Protocol.Tools.Contracts;

/// <summary>A place in a file, counted from 1; 0 if unknown.</summary>
internal readonly struct Place(int line, int column)
{
    public int Line { get; } = line;

    public int Column { get; } = column;
}

/// <summary>What the generator needs of a <c>.proto</c> file.</summary>
internal sealed class ProtoFile
{
    /// <summary>The path by which other files import it.</summary>
    public string Name { get; set; } = "";

    public string Package { get; set; } = "";

    /// <summary>The option <c>csharp_namespace</c>; null if it is not set.</summary>
    public string? NamespaceOption { get; set; }

    /// <summary>The messages and enumerations that are not nested.</summary>
    public List<string> Types { get; } = [];

    public List<ProtoService> Services { get; } = [];

    /// <summary>The namespace of its C# classes, as protoc chooses it.</summary>
    public string Namespace => NamespaceOption ?? CSharpNames.Pascal(Package);

    /// <summary>The full name of a declaration of this file.</summary>
    public string FullName(string name) => Package.Length == 0 ? name : $"{Package}.{name}";
}

/// <summary>A service as it is written.</summary>
internal sealed class ProtoService
{
    public string Name { get; set; } = "";

    public Place Place { get; set; }

    public string Comment { get; set; } = "";

    public bool IsDeprecated { get; set; }

    /// <summary>The option <c>fastport.first_type</c>; null if it is not set.</summary>
    public uint? FirstType { get; set; }

    public Place FirstTypePlace { get; set; }

    public List<ProtoMethod> Methods { get; } = [];
}

/// <summary>A method as it is written.</summary>
internal sealed class ProtoMethod
{
    public string Name { get; set; } = "";

    public Place Place { get; set; }

    public string Comment { get; set; } = "";

    public bool IsDeprecated { get; set; }

    /// <summary>The full name of the request, with a dot before it.</summary>
    public string Request { get; set; } = "";

    /// <summary>The full name of the reply, with a dot before it.</summary>
    public string Reply { get; set; } = "";

    public bool ClientStreams { get; set; }

    public bool ServerStreams { get; set; }

    /// <summary>The option <c>fastport.type</c>; null if it is not set.</summary>
    public uint? Type { get; set; }

    public Place TypePlace { get; set; }

    public MethodRun Run { get; set; }
}

/// <summary>Where a method runs: <c>fastport.Run</c>.</summary>
internal enum MethodRun
{
    Queued = 0,
    BeginsOnLoop = 1,
    Inline = 2,
}
