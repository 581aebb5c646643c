using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Variables whose writes the application takes, and variables of a type that is known late.</summary>
public sealed class WriteHandlerTests
{
    private static readonly NodeId First = new(2, 1);
    private static readonly NodeId Second = new(2, 2);
    private static readonly NodeId Other = new(2, 3);
    private static readonly NodeId Stored = new(2, 4);
    private static readonly NodeId Any = new(2, 5);

    [Fact]
    public async Task The_values_of_a_request_come_together_and_each_has_its_status()
    {
        var calls = new List<VariableWrite[]>();
        await using TestServer server = await StartAsync((writes, statuses, _) =>
        {
            calls.Add(writes.ToArray());
            statuses.Span[^1] = StatusCodes.BadOutOfRange;
            return ValueTask.CompletedTask;
        });
        await using OpcUaClient client = await server.ConnectAsync();

        StatusCode[] statuses = await client.WriteAsync(
            [new(First, 1.5), new(Stored, 7), new(Second, 2.5), new(First, 3.5), new(Second, "text"), new(new NodeId(2, 99), 1)]);

        Assert.Equal(
            [
                StatusCodes.Good, StatusCodes.Good, StatusCodes.Good, StatusCodes.BadOutOfRange, StatusCodes.BadTypeMismatch,
                StatusCodes.BadNodeIdUnknown,
            ],
            statuses);
        VariableWrite[] writes = Assert.Single(calls);
        Assert.Equal([(First, 1.5), (Second, 2.5), (First, 3.5)], writes.Select(static w => (w.Variable.Id, w.Value.Value.Get<double>())));
        Assert.All(writes, static write => Assert.NotEqual(default, write.Value.SourceTimestamp));
        DataValue[] values = await client.ReadAsync([First, Stored]);
        Assert.Equal(StatusCodes.BadWaitingForInitialData, values[0].Status);
        Assert.Equal(7, values[1].Value.Get<int>());
    }

    [Fact]
    public async Task A_handler_may_take_its_time_and_another_one_and_other_requests_go_on()
    {
        var gate = new TaskCompletionSource();
        var others = new TaskCompletionSource();
        await using TestServer server = await StartAsync(
            async (_, _, _) => await gate.Task,
            (_, _, _) =>
            {
                others.SetResult();
                return ValueTask.CompletedTask;
            });
        await using OpcUaClient client = await server.ConnectAsync();

        Task<StatusCode[]> write = client.WriteAsync([new(First, 1.5), new(Other, 1.5)]).AsTask();
        await others.Task;
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Stored, 8)]));
        Assert.False(write.IsCompleted);
        gate.SetResult();

        Assert.Equal([StatusCodes.Good, StatusCodes.Good], await write);
    }

    [Fact]
    public async Task Requests_reach_a_handler_in_their_order()
    {
        var order = new List<double>();
        await using TestServer server = await StartAsync(async (writes, _, _) =>
        {
            order.Add(writes.Span[0].Value.Value.Get<double>());
            await Task.Yield();
        });
        await using OpcUaClient client = await server.ConnectAsync();

        await Task.WhenAll(Enumerable.Range(0, 100).Select(i => client.WriteAsync([new(First, (double)i)]).AsTask()));

        Assert.Equal(Enumerable.Range(0, 100).Select(static i => (double)i), order);
    }

    [Fact]
    public async Task A_handler_that_throws_is_an_internal_error_of_its_values_only()
    {
        await using TestServer server = await StartAsync(
            static (_, _, _) => throw new InvalidOperationException("on purpose"), static (_, _, _) => ValueTask.CompletedTask);
        await using OpcUaClient client = await server.ConnectAsync();

        Assert.Equal(
            [StatusCodes.BadInternalError, StatusCodes.Good, StatusCodes.Good],
            await client.WriteAsync([new(First, 1.5), new(Other, 1.5), new(Stored, 8)]));
    }

    [Fact]
    public async Task A_session_has_so_many_writes_under_way_and_values_without_a_handler_are_written()
    {
        var gate = new TaskCompletionSource();
        await using TestServer server = await StartAsync(
            async (_, _, _) => await gate.Task, configure: static o => o.MaxRunningRequestsPerSession = 1);
        await using OpcUaClient client = await server.ConnectAsync();

        Task<StatusCode[]> first = client.WriteAsync([new(First, 1.5)]).AsTask();
        StatusCode[] second = await client.WriteAsync([new(First, 2.5), new(Stored, 8), new(Second, 2.5)]);
        gate.SetResult();

        Assert.Equal([StatusCodes.BadTooManyOperations, StatusCodes.Good, StatusCodes.BadTooManyOperations], second);
        Assert.Equal([StatusCodes.Good], await first);
        Assert.Equal(8, (await client.ReadAsync([Stored]))[0].Value);
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(First, 3.5)]));
    }

    [Fact]
    public async Task A_part_of_a_value_is_refused()
    {
        await using TestServer server = await StartAsync(static (_, _, _) => ValueTask.CompletedTask);
        using RawSession session = await RawSession.OpenAsync(server);

        WriteResponse response = await session.CallAsync<WriteRequest, WriteResponse>(new WriteRequest
        {
            NodesToWrite =
            [
                new WriteValue
                {
                    NodeId = Any, AttributeId = (uint)AttributeId.Value, IndexRange = "0", Value = new DataValue(Variant.FromArray([1])),
                },
            ],
        });

        Assert.Equal(StatusCodes.BadWriteNotSupported, Assert.Single(response.Results!));
    }

    [Fact]
    public async Task Any_variable_gets_a_handler_also_while_the_server_runs()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();
        VariableNode node = server.Server.AddressSpace.AddAnalogVariable(
            AddressSpace.ObjectsFolder, First, "First", 20.0, low: 0, high: 90);
        var taken = new List<double>();
        node.OnWrite = (writes, _, _) =>
        {
            taken.Add(writes.Span[0].Value.Value.Get<double>());
            return ValueTask.CompletedTask;
        };

        Assert.Equal([StatusCodes.BadNotWritable], await client.WriteAsync([new(First, 30.0)]));
        node.IsWritable = true;
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(First, 40.0)]));
        Assert.Equal(20.0, (await client.ReadAsync([First]))[0].Value.Get<double>());

        node.OnWrite = null;
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(First, 50.0)]));
        Assert.Equal(50.0, (await client.ReadAsync([First]))[0].Value.Get<double>());
        Assert.Equal([40.0], taken);
    }

    [Fact]
    public async Task A_write_is_canceled_with_its_request()
    {
        var began = new TaskCompletionSource();
        await using TestServer server = await StartAsync(async (_, _, cancellationToken) =>
        {
            began.SetResult();
            await Task.Delay(Timeout.Infinite, cancellationToken);
        });
        await using OpcUaClient client = await server.ConnectAsync();
        using var cancellation = new CancellationTokenSource();

        Task<StatusCode[]> write = client.WriteAsync([new(First, 1.5)], cancellation.Token).AsTask();
        await began.Task;
        await cancellation.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => write);
        Assert.Single(await client.ReadAsync([Stored]));
    }

    [Fact]
    public async Task A_variable_of_any_type_takes_every_value()
    {
        var taken = new List<Variant>();
        await using TestServer server = await StartAsync((writes, _, _) =>
        {
            taken.Add(writes.Span[0].Value.Value);
            return ValueTask.CompletedTask;
        });
        await using OpcUaClient client = await server.ConnectAsync();

        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Any, 5)]));
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Any, Variant.FromArray(["a"]))]));
        DataValue[] types = await client.ReadAsync([Any, First], AttributeId.DataType);
        DataValue[] ranks = await client.ReadAsync([Any, First], AttributeId.ValueRank);

        Assert.Equal([BuiltInType.Int32, BuiltInType.String], taken.Select(static value => value.Type));
        Assert.Equal([new NodeId(0, 24), new NodeId(0, 11)], types.Select(static value => value.Value.Get<NodeId>()));
        Assert.Equal([-2, -1], ranks.Select(static value => value.Value.Get<int>()));
    }

    [Fact]
    public async Task Types_and_ranks_that_do_not_exist_are_refused()
    {
        await using TestServer server = await StartAsync(static (_, _, _) => ValueTask.CompletedTask);
        AddressSpace space = server.Server.AddressSpace;

        Assert.Throws<ArgumentOutOfRangeException>(() => Add((BuiltInType)26, -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Add(BuiltInType.Int32, 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => Add(BuiltInType.Int32, -3));
        Assert.Throws<ArgumentOutOfRangeException>(() => Add(BuiltInType.Int32, 17));

        void Add(BuiltInType type, int rank) =>
            space.AddVariableOfType(AddressSpace.ObjectsFolder, new NodeId(2, 9), "Wrong", type, rank);
    }

    private static Task<TestServer> StartAsync(
        VariableWriteHandler handler, VariableWriteHandler? other = null, Action<OpcUaServerOptions>? configure = null) =>
        TestServer.StartAsync(
        space =>
        {
            space.AddVariableOfType(AddressSpace.ObjectsFolder, First, "First", BuiltInType.Double, -1, handler);
            space.AddVariableOfType(AddressSpace.ObjectsFolder, Second, "Second", BuiltInType.Double, -1, handler);
            space.AddVariableOfType(AddressSpace.ObjectsFolder, Other, "Other", BuiltInType.Double, -1, other);
            space.AddVariable(AddressSpace.ObjectsFolder, Stored, "Stored", 1, writable: true);
            space.AddVariableOfType(AddressSpace.ObjectsFolder, Any, "Any", BuiltInType.Null, -2, handler);
        },
        configure);
}
