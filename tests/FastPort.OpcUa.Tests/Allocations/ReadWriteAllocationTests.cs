using System.Runtime.CompilerServices;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Allocations;

/// <summary>
/// What a Read or a Write of numeric nodes allocates without security. The loops are shared with other tests, which allocate, so the least
/// of many rounds counts: what a request allocates itself is in every round.
/// </summary>
public sealed class ReadWriteAllocationTests
{
    private const int Rounds = 200;
    private const int RequestsPerRound = 5;

    private static readonly NodeId Probe = new(2, 1);
    private static readonly OpcUaClientOptions OnLoop = new() { RunContinuationsOnLoop = true, KeepAliveInterval = TimeSpan.Zero };

    [Theory]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(2000)]
    public async Task A_read_of_numbers_allocates_nothing_on_the_server(int count)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        await using TestServer server = await StartAsync(count);
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        NodeId[] nodes = [Probe, .. Ids(count)];
        var values = new DataValue[nodes.Length];

        // The server's loop tells what it has allocated so far in each answer.
        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            await client.ReadAsync(nodes, values);
            return values[0].Value.Get<long>();
        });

        Assert.Equal(0, least);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(200)]
    public async Task A_write_of_numbers_allocates_nothing_on_the_server(int count)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        await using TestServer server = await StartAsync(count);
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        KeyValuePair<NodeId, Variant>[] writes = [.. Ids(count).Select(static (id, i) => KeyValuePair.Create(id, (Variant)i))];
        var statuses = new StatusCode[count];
        NodeId[] probe = [Probe];
        var told = new DataValue[1];

        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            await client.WriteAsync(writes, statuses);
            await client.ReadAsync(probe, told);
            return told[0].Value.Get<long>();
        });

        Assert.Equal(0, least);
        Assert.All(statuses, static status => Assert.Equal(StatusCodes.Good, status));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2000)]
    public async Task A_read_into_the_callers_memory_allocates_nothing_at_the_client(int count)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        await using TestServer server = await StartAsync(count);
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        NodeId[] nodes = [.. Ids(count)];
        var values = new DataValue[count];

        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            await client.ReadAsync(nodes, values);
            return GC.GetAllocatedBytesForCurrentThread();
        });

        Assert.Equal(0, least);
    }

    [Fact]
    public async Task Texts_that_have_not_changed_are_not_made_again_in_the_callers_memory()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        VariableNode? first = null;
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            foreach (NodeId id in Ids(100))
            {
                VariableNode node = space.AddVariable(AddressSpace.ObjectsFolder, id, $"{id}", $"text {id}");
                first ??= node;
            }
        });
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        NodeId[] nodes = [.. Ids(100)];
        var values = new DataValue[nodes.Length];

        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            await client.ReadAsync(nodes, values);
            return GC.GetAllocatedBytesForCurrentThread();
        });

        Assert.Equal(0, least);
        Assert.Equal(nodes.Select(static id => $"text {id}"), values.Select(static value => value.Value.Get<string>()));
        first!.Value = new DataValue("tëxt");
        await client.ReadAsync(nodes, values);
        Assert.Equal("tëxt", values[0].Value.Get<string>());
        await client.ReadAsync(nodes, values);
        Assert.Equal("tëxt", values[0].Value.Get<string>());
    }

    [Fact]
    public async Task A_write_into_the_callers_memory_allocates_nothing_at_the_client()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        await using TestServer server = await StartAsync(10);
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        KeyValuePair<NodeId, Variant>[] writes = [.. Ids(10).Select(static (id, i) => KeyValuePair.Create(id, (Variant)i))];
        var statuses = new StatusCode[writes.Length];

        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            await client.WriteAsync(writes, statuses);
            return GC.GetAllocatedBytesForCurrentThread();
        });

        Assert.Equal(0, least);
    }

    [Fact]
    public async Task Of_requests_that_are_sent_at_the_same_time_no_array_of_the_pool_is_lost()
    {
        const int ArrayBytes = 1024;
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        await using TestServer server = await StartAsync(1);
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        var values = new DataValue[1];
        var nodes = new Interrupting([.. Ids(1)]);
        var inner = new DataValue[1];
        NodeId[] innerNodes = [.. Ids(1)];
        ValueTask second = default;
        nodes.OnEncoded = () => second = client.ReadAsync(innerNodes, inner);

        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            nodes.Arm();
            await client.ReadAsync(nodes, values);
            await second;
            return GC.GetAllocatedBytesForCurrentThread();
        });

        Assert.InRange(least, 0, (RequestsPerRound * ArrayBytes) - 1);
    }

    [Fact]
    public async Task A_read_allocates_its_result_at_the_client_and_nothing_else()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Elsewhere a connection has no thread of its own.");
        const int Count = 10;
        await using TestServer server = await StartAsync(Count);
        await using OpcUaClient client = await server.ConnectAsync(OnLoop);
        NodeId[] nodes = [.. Ids(Count)];
        long before = GC.GetAllocatedBytesForCurrentThread();
        GC.KeepAlive(new DataValue[Count]);
        long array = GC.GetAllocatedBytesForCurrentThread() - before;

        long least = await LeastOfAsync(client, [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
        async ValueTask<long> () =>
        {
            GC.KeepAlive(await client.ReadAsync(nodes));
            return GC.GetAllocatedBytesForCurrentThread();
        });

        Assert.Equal(RequestsPerRound * array, least);
    }

    // Nodes of a request. Another request is sent while this one is encoded, as another thread would.
    private sealed class Interrupting(NodeId[] nodes) : IReadOnlyList<NodeId>
    {
        private bool _isArmed;

        public Action OnEncoded { get; set; } = static () => { };

        public int Count => nodes.Length;

        public NodeId this[int index]
        {
            get
            {
                if (_isArmed)
                {
                    _isArmed = false;
                    OnEncoded();
                }

                return nodes[index];
            }
        }

        public void Arm() => _isArmed = true;

        public IEnumerator<NodeId> GetEnumerator() => nodes.AsEnumerable().GetEnumerator();

        System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
    }

    private static IEnumerable<NodeId> Ids(int count) => Enumerable.Range(1000, count).Select(static i => new NodeId(2, (uint)i));

    private static Task<TestServer> StartAsync(int count) => TestServer.StartAsync(space =>
    {
        space.AddVariable<long>(
            AddressSpace.ObjectsFolder, Probe, "Probe", static () => new DataValue(GC.GetAllocatedBytesForCurrentThread()));
        foreach (NodeId id in Ids(count))
        {
            space.AddVariable(AddressSpace.ObjectsFolder, id, $"{id}", 0, writable: true);
        }
    });

    // Begins on the client's loop and stays there: what a thread has allocated means something on one thread only.
    private static async Task<long> LeastOfAsync(OpcUaClient client, Func<ValueTask<long>> request)
    {
        var least = new TaskCompletionSource<Task<long>>();
        client.Connection.Post(_ => least.SetResult(MeasureAsync(request)), null);
        return await await least.Task;
    }

    private static async Task<long> MeasureAsync(Func<ValueTask<long>> request)
    {
        int thread = Environment.CurrentManagedThreadId;
        long least = long.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            long before = await request();
            long after = before;
            for (int i = 0; i < RequestsPerRound; i++)
            {
                after = await request();
            }

            Assert.Equal(thread, Environment.CurrentManagedThreadId);
            least = Math.Min(least, after - before);
        }

        return least;
    }
}
