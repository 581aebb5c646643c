using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>Fetches the package, whose size is set before. Of each, the length and some bytes are compared with the first one.</summary>
internal sealed class PackageLoad(IReadOnlyList<OpcUaClient> clients, int bytes) : OpcUaLoad(clients)
{
    private const int ComparedBytes = 64;

    private NodeId _owner;
    private NodeId _get;
    private byte[] _first = [];

    public override async ValueTask RequestAsync(int worker)
    {
        using PooledResult<MethodCallResult> got = await ClientOf(worker).CallPooledAsync(_owner, _get, []);
        ByteString package = PackageOf(got.Value);
        int part = Math.Min(ComparedBytes, bytes);
        if (package.Length != bytes || !IsEqual(0, part) || !IsEqual((bytes - part) / 2, part) || !IsEqual(bytes - part, part))
        {
            throw new PeerException($"A package of {package.Length} bytes came, not the one of {bytes} bytes that was asked for.");
        }

        bool IsEqual(int from, int length) => package.Span.Slice(from, length).SequenceEqual(_first.AsSpan(from, length));
    }

    public override Task CheckAsync() => Task.CompletedTask;

    protected override async Task PrepareAsync(ushort index)
    {
        (_owner, _get) = (new NodeId(index, TagValues.Simulation), new NodeId(index, TagValues.GetPackage));
        MethodCallResult set = await Clients[0].CallAsync(_owner, new NodeId(index, TagValues.SetPackageSize), [(uint)bytes]);
        if (!set.Status.IsGood)
        {
            throw new PeerException($"SetPackageSize has failed: {set.Status}.");
        }

        _first = PackageOf(await Clients[0].CallAsync(_owner, _get, [])).ToArray() ?? [];
    }

    private static ByteString PackageOf(in MethodCallResult got) =>
        got.Status.IsGood && got.Outputs is [var output] && output.TryGet(out ByteString package)
            ? package
            : throw new PeerException($"GetPackage has failed: {got.Status}.");
}
