using System.Collections;
using System.Runtime.CompilerServices;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Read and Write whose results go into the caller's memory, and awaits that continue on the connection's loop.</summary>
public sealed class CallersMemoryTests
{
    private const int Count = 10;

    private static readonly NodeId[] Ids = [.. Enumerable.Range(1000, Count).Select(static i => new NodeId(2, (uint)i))];

    [Theory]
    [InlineData(10_000)]
    [InlineData(7)]
    [InlineData(1)]
    public async Task Values_are_written_and_read_whatever_the_server_serves_at_a_time(int limit)
    {
        await using TestServer server = await StartAsync(limit);
        await using OpcUaClient client = await server.ConnectAsync();
        List<KeyValuePair<NodeId, Variant>> writes = [.. Ids.Select(static (id, i) => KeyValuePair.Create(id, (Variant)(i * 7)))];
        writes.Add(KeyValuePair.Create(new NodeId(2, 1), (Variant)1));
        var statuses = new StatusCode[writes.Count];
        var values = new DataValue[writes.Count];

        await client.WriteAsync(writes, statuses);
        await client.ReadAsync(writes.ConvertAll(static write => write.Key), values);

        Assert.Equal([.. Enumerable.Repeat(StatusCodes.Good, Count), StatusCodes.BadNodeIdUnknown], statuses);
        Assert.Equal(Enumerable.Range(0, Count).Select(static i => i * 7), values.Take(Count).Select(static v => v.Value.Get<int>()));
        Assert.Equal(StatusCodes.BadNodeIdUnknown, values[^1].Status);
    }

    [Fact]
    public async Task Memory_of_another_length_is_refused()
    {
        await using TestServer server = await StartAsync(Count);
        await using OpcUaClient client = await server.ConnectAsync();

        await Assert.ThrowsAsync<ArgumentException>(async () => await client.ReadAsync(Ids, new DataValue[Count - 1]));
        await Assert.ThrowsAsync<ArgumentException>(
            async () => await client.WriteAsync([KeyValuePair.Create(Ids[0], (Variant)1)], Memory<StatusCode>.Empty));
    }

    /// <summary>Requests are used again, and there may be many of them.</summary>
    [Fact]
    public async Task What_the_caller_has_dropped_is_not_kept_for_the_next_request()
    {
        await using TestServer server = await StartAsync(Count);
        server.Server.AddressSpace.AddMethod(
            AddressSpace.ObjectsFolder, new NodeId(2, 1), "m", [], [], static (_, _) => new(MethodResult.Good("text")));
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { RequestTimeout = TimeSpan.FromDays(1) });

        WeakReference[] results = await ReadAndCallAsync(client);

        await Patience.UntilAsync(
            () =>
            {
                GC.Collect();
                return !Array.Exists(results, static result => result.IsAlive);
            },
            "the results are collected");
    }

    [Fact]
    public async Task The_connection_is_one_of_the_transport_that_the_options_name()
    {
        await using TestServer server = await StartAsync(Count);
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { Transport = TransportKind.Sockets });

        Assert.Equal("SocketConnection", client.Connection.GetType().Name);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task An_await_continues_on_the_loop_only_where_the_options_say_so(bool onLoop)
    {
        await using TestServer server = await StartAsync(Count);
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { RunContinuationsOnLoop = onLoop });
        var values = new DataValue[Count];

        // Asked for on the loop, so that the answer cannot come before it is awaited.
        var continued = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connection.Post(_ => _ = ReadAsync(), null);

        Assert.Equal(onLoop, await continued.Task);

        async Task ReadAsync()
        {
            await client.ReadAsync(Ids, values);
            continued.SetResult(client.Connection.IsOnLoop);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<WeakReference[]> ReadAndCallAsync(OpcUaClient client)
    {
        var statuses = new StatusCode[1];
        await Assert.ThrowsAsync<NotSupportedException>(async () => await client.WriteAsync(new BrokenList(), statuses));
        var values = new DataValue[Count];
        await client.ReadAsync(Ids, values);
        MethodCallResult called = await client.CallAsync(AddressSpace.ObjectsFolder, new NodeId(2, 1), []);
        Assert.Equal("text", called.Outputs[0].Get<string>());
        return [new WeakReference(statuses), new WeakReference(values), new WeakReference(called.Outputs)];
    }

    private static Task<TestServer> StartAsync(int limit) => TestServer.StartAsync(
        static space =>
        {
            foreach (NodeId id in Ids)
            {
                space.AddVariable(AddressSpace.ObjectsFolder, id, $"{id}", 0, writable: true);
            }
        },
        options => (options.MaxNodesPerRead, options.MaxNodesPerWrite) = (limit, limit));

    // Throws while its request is encoded.
    private sealed class BrokenList : IReadOnlyList<KeyValuePair<NodeId, Variant>>
    {
        public int Count => 1;

        public KeyValuePair<NodeId, Variant> this[int index] => throw new NotSupportedException();

        public IEnumerator<KeyValuePair<NodeId, Variant>> GetEnumerator() => throw new NotSupportedException();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }
}
