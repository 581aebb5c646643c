using System.Security.Cryptography;
using FastPort;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace OpcUaPeer;

/// <summary>The server: every so often all tags get the values of the next generation, one after the other.</summary>
internal sealed class TagServer : IAsyncDisposable
{
    private const int MaxMessageBytes = 256 * 1024 * 1024;

    // Texts are made beforehand, so that what is allocated meanwhile is the requests'.
    private const int TextGenerations = 32;

    /// <summary>How often all tags change.</summary>
    public static readonly TimeSpan Period = TimeSpan.FromMilliseconds(250);

    private static byte[] _package = [];

    private readonly OpcUaServer _server;
    private readonly CancellationTokenSource _ended = new();
    private readonly Task _changes;

    private TagServer(OpcUaServer server, VariableNode[] tags, bool still)
    {
        _server = server;
        _changes = still ? Task.CompletedTask : ChangeAsync(tags, _ended.Token);
    }

    public IReadOnlyList<Endpoint> Endpoints => _server.Endpoints;

    /// <summary>Starts a server.</summary>
    /// <param name="endpoint">Where it listens.</param>
    /// <param name="pki">Directory of its certificates; null for no security.</param>
    /// <param name="still">Whether values change only when clients write them.</param>
    /// <param name="spinMicroseconds">How long a loop looks for work before it sleeps; null for the engine's own choice.</param>
    public static async Task<TagServer> StartAsync(string endpoint, string? pki, bool still, int? spinMicroseconds)
    {
        var options = new OpcUaServerOptions
        {
            ApplicationName = "FastPort comparison",
            MaxMessageBytes = MaxMessageBytes,
            SpinMicroseconds = spinMicroseconds,
        };
        options.Endpoints.Add(endpoint);
        if (pki is null)
        {
            options.SecurityPolicies = [OpcUaSecurityPolicy.None];
        }
        else
        {
            options.Certificates.Directory = pki;
            options.Certificates.UnsafeTrustAll = true;
        }

        var server = new OpcUaServer(options);
        VariableNode[] tags = AddNodes(server.AddressSpace);
        await server.StartAsync();
        return new TagServer(server, tags, still);
    }

    public async ValueTask DisposeAsync()
    {
        await _ended.CancelAsync();
        await _changes.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await _server.DisposeAsync();
        _ended.Dispose();
    }

    private static VariableNode[] AddNodes(AddressSpace space)
    {
        ushort index = space.AddNamespace(TagValues.NamespaceUri);
        var root = new NodeId(index, TagValues.Simulation);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(index, "Simulation"));
        var tags = new VariableNode[TagValues.Count];
        for (int i = 0; i < tags.Length; i++)
        {
            (NodeId id, QualifiedName name, Variant value) = (
                new NodeId(index, TagValues.Id(i)), new QualifiedName(index, TagValues.Name(i)), TagValues.At(i, 0));
            tags[i] = value.Type switch
            {
                BuiltInType.Int32 => space.AddVariable(root, id, name, value.Get<int>(), writable: true),
                BuiltInType.Double => space.AddVariable(root, id, name, value.Get<double>(), writable: true),
                _ => space.AddVariable(root, id, name, value.Get<string>(), writable: true),
            };
        }

        space.AddVariable<long>(
            root,
            new NodeId(index, TagValues.AllocatedBytes),
            new QualifiedName(index, "AllocatedBytes"),
            static () => new DataValue(GC.GetTotalAllocatedBytes(precise: true)));
        for (int i = 0; i < TagValues.ReadCounters; i++)
        {
            long reads = 0;
            space.AddVariable<long>(
                root,
                new NodeId(index, TagValues.FirstReadCounter + (uint)i),
                new QualifiedName(index, TagValues.ReadCounterName(i)),
                () => new DataValue(Interlocked.Increment(ref reads), StatusCodes.Good, DateTime.UtcNow));
        }

        space.AddMethod(
            root, new NodeId(index, TagValues.SetPackageSize), new QualifiedName(index, "SetPackageSize"),
            [new("Size", BuiltInType.UInt32)], [], SetPackageSize);
        space.AddMethod(
            root, new NodeId(index, TagValues.GetPackage), new QualifiedName(index, "GetPackage"),
            [], [new("Package", BuiltInType.ByteString)], GetPackage);
        return tags;
    }

    private static async Task ChangeAsync(VariableNode[] tags, CancellationToken cancellationToken)
    {
        const int FirstText = TagValues.Int32Count + TagValues.DoubleCount;
        Variant[] texts =
        [
            .. from generation in Enumerable.Range(0, TextGenerations)
               from tag in Enumerable.Range(FirstText, TagValues.StringCount)
               select TagValues.At(tag, generation),
        ];
        using var timer = new PeriodicTimer(Period);
        for (int generation = 1; await timer.WaitForNextTickAsync(cancellationToken); generation++)
        {
            for (int i = 0; i < tags.Length; i++)
            {
                tags[i].Value = i < FirstText
                    ? TagValues.At(i, generation)
                    : texts[(generation % TextGenerations * TagValues.StringCount) + i - FirstText];
            }
        }
    }

    private static ValueTask<MethodResult> SetPackageSize(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken)
    {
        Volatile.Write(ref _package, RandomNumberGenerator.GetBytes((int)inputs.Span[0].Get<uint>()));
        return new ValueTask<MethodResult>(MethodResult.Good());
    }

    private static ValueTask<MethodResult> GetPackage(ReadOnlyMemory<Variant> inputs, CancellationToken cancellationToken) =>
        new(MethodResult.Good((ByteString)Volatile.Read(ref _package)));
}
