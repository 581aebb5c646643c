namespace FastPort.Protocol.Tools.Contracts;

/// <summary>A <c>.proto</c> file of the project, with its services as C# shows them.</summary>
internal sealed class Contract
{
    private Contract(string path, List<ProtoFile> files)
    {
        Path = path;
        Files = files;
        File = files[files.Count - 1];
        Services = File.Services.ConvertAll(service => new ContractService(this, service));
    }

    /// <summary>The file's path, for errors.</summary>
    public string Path { get; }

    public ProtoFile File { get; }

    /// <summary>The file and all that it imports.</summary>
    public IReadOnlyList<ProtoFile> Files { get; }

    public IReadOnlyList<ContractService> Services { get; }

    /// <summary>Reads a contract.</summary>
    /// <param name="path">The <c>.proto</c> file.</param>
    /// <param name="descriptors">protoc's descriptor set of it.</param>
    /// <exception cref="InvalidDataException">The bytes are no descriptor set.</exception>
    public static Contract Read(string path, byte[] descriptors) => new(path, DescriptorSet.Read(descriptors));
}

/// <summary>A service as C# shows it.</summary>
internal sealed class ContractService
{
    public ContractService(Contract contract, ProtoService source)
    {
        Contract = contract;
        Source = source;
        Name = CSharpNames.Pascal(source.Name);
        FullName = contract.File.FullName(source.Name);
        for (int i = 0; i < source.Methods.Count; i++)
        {
            Methods.Add(new ContractMethod(this, source.Methods[i], i));
        }
    }

    public Contract Contract { get; }

    public ProtoService Source { get; }

    public string Name { get; }

    public string FullName { get; }

    public List<ContractMethod> Methods { get; } = [];

    public string Interface => $"I{Name}Client";

    public string Client => $"{Name}Client";

    public string Base => $"{Name}Base";

    /// <summary>The class that holds the descriptors of the methods.</summary>
    public string Descriptors => $"{Name}Methods";
}

/// <summary>A method as C# shows it.</summary>
internal sealed class ContractMethod
{
    public ContractMethod(ContractService service, ProtoMethod source, int index)
    {
        Service = service;
        Source = source;
        Name = CSharpNames.MethodName(source.Name);
        FullName = $"{service.FullName}/{source.Name}";
        Kind = (source.ClientStreams, source.ServerStreams) switch
        {
            (false, false) => MethodKind.Unary,
            (false, true) => MethodKind.ServerStream,
            (true, false) => MethodKind.ClientStream,
            (true, true) => MethodKind.Duplex,
        };
        Number = source.Type ?? service.Source.FirstType + (long)index;
        NumberPlace = source.Type is not null ? source.TypePlace : source.Place;
    }

    public ContractService Service { get; }

    public ProtoMethod Source { get; }

    /// <summary>The name without Async.</summary>
    public string Name { get; }

    /// <summary>The name on the wire's side of things: package, service and method.</summary>
    public string FullName { get; }

    public MethodKind Kind { get; }

    public bool HasRequestStream => Kind is MethodKind.ClientStream or MethodKind.Duplex;

    public bool HasReplyStream => Kind is MethodKind.ServerStream or MethodKind.Duplex;

    public MethodRun Run => Source.Run;

    /// <summary>The message type; null if nothing gives it one. Not checked for its range.</summary>
    public long? Number { get; }

    /// <summary>The place that gives the method its number.</summary>
    public Place NumberPlace { get; }

    public string Request => CSharpNames.ClassOf(Source.Request, Service.Contract.Files);

    public string Reply => CSharpNames.ClassOf(Source.Reply, Service.Contract.Files);

    /// <summary>The parameter for the request, or for the stream of requests.</summary>
    public string RequestParameter => HasRequestStream
        ? $"global::System.Collections.Generic.IAsyncEnumerable<{Request}> requests"
        : $"{Request} request";
}

/// <summary>In which directions a method streams.</summary>
internal enum MethodKind
{
    Unary,
    ServerStream,
    ClientStream,
    Duplex,
}
