using System.Security.Cryptography;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Transports;
using FastPortPeer;

namespace OpcUaPeer;

/// <summary>The server: every so often all tags get the values of the next generation, one after the other.</summary>
internal static class TagServer
{
    private const int MaxMessageBytes = 256 * 1024 * 1024;

    // Texts are made beforehand, so that what is allocated meanwhile is the requests'.
    private const int TextGenerations = 32;

    /// <summary>How often all tags change.</summary>
    public static readonly TimeSpan Period = TimeSpan.FromMilliseconds(250);

    private static byte[] _package = [];

    public static async Task RunAsync(string endpoint, string pki, bool still, int? spinMicroseconds)
    {
        var options = new OpcUaServerOptions
        {
            ApplicationName = "FastPort comparison",
            MaxMessageBytes = MaxMessageBytes,
            SpinMicroseconds = spinMicroseconds,
        };
        options.Endpoints.Add(endpoint);
        options.Certificates.Directory = pki;
        options.Certificates.UnsafeTrustAll = true;
        await using var server = new OpcUaServer(options);
        VariableNode[] tags = AddNodes(server.AddressSpace);
        await server.StartAsync();
        foreach (Endpoint one in server.Endpoints)
        {
            Console.WriteLine($"listening on {one}");
        }

        using var ended = new CancellationTokenSource();
        Task changes = still ? Task.CompletedTask : ChangeAsync(tags, ended.Token);
        await InputLines.Start().Completion;
        await ended.CancelAsync();
        await changes.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
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
