using System.Buffers;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Our client and our server: values read and written, end to end.</summary>
public sealed class ReadWriteTests
{
    private static readonly NodeId Folder = new(2, 1);

    [Fact]
    public async Task A_value_is_read_with_its_times()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1000), "Int32.0", 42));
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue value = Assert.Single(await client.ReadAsync([new NodeId(2, 1000)]));

        Assert.Equal((42, StatusCodes.Good), (value.Value.Get<int>(), value.Status));
        Assert.InRange(value.SourceTimestamp, DateTime.UtcNow.AddMinutes(-1), DateTime.UtcNow.AddMinutes(1));
        Assert.InRange(value.ServerTimestamp, value.SourceTimestamp, DateTime.UtcNow.AddMinutes(1));
    }

    [Fact]
    public async Task Nodes_have_names_and_descriptions_for_people_which_may_change_while_the_server_runs()
    {
        VariableNode speed = null!;
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            space.AddFolder(AddressSpace.ObjectsFolder, Folder, "Line1").DisplayName = new LocalizedText("en", "Line one");
            speed = space.AddVariable(Folder, new NodeId(2, 2), "Speed", 42);
            speed.Description = new LocalizedText("en", "Of the belt, in m/s");
        });
        await using OpcUaClient client = await server.ConnectAsync();

        Assert.Equal([new("en", "Line one"), "Speed"], await TextsAsync(AttributeId.DisplayName));
        Assert.Equal([default, new("en", "Of the belt, in m/s")], await TextsAsync(AttributeId.Description));

        speed.DisplayName = new LocalizedText("de", "Geschwindigkeit");
        speed.Description = default;
        Assert.Equal([new("en", "Line one"), new("de", "Geschwindigkeit")], await TextsAsync(AttributeId.DisplayName));
        Assert.Equal([default, default], await TextsAsync(AttributeId.Description));
        ReferenceDescription found = Assert.Single(
            await client.BrowseAsync(Folder), static one => one.NodeClass == NodeClass.Variable);
        Assert.Equal(("Speed", new LocalizedText("de", "Geschwindigkeit")), (found.BrowseName.Name, found.DisplayName));

        async Task<LocalizedText[]> TextsAsync(AttributeId attribute) =>
            Array.ConvertAll(await client.ReadAsync([Folder, speed.Id], attribute), static one => one.Value.Get<LocalizedText>());
    }

    [Fact]
    public async Task Two_thousand_values_of_three_types_are_read_in_order()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddFolder(AddressSpace.ObjectsFolder, Folder, "Simulation");
            for (uint i = 0; i < 2000; i++)
            {
                var id = new NodeId(2, 1000 + i);
                _ = i switch
                {
                    < 1000 => space.AddVariable(Folder, id, $"Int32.{i}", (int)i),
                    < 1800 => space.AddVariable(Folder, id, $"Double.{i}", i / 2.0),
                    _ => space.AddVariable(Folder, id, $"String.{i}", new string('x', 500) + i),
                };
            }
        });
        await using OpcUaClient client = await server.ConnectAsync();
        NodeId[] ids = [.. Enumerable.Range(1000, 2000).Select(static i => new NodeId(2, (uint)i))];

        // The strings alone are larger than a chunk.
        DataValue[] values = await client.ReadAsync(ids);

        Assert.Equal(2000, values.Length);
        Assert.All(values.Index(), static v => Assert.Equal(
            v.Index < 1000 ? v.Index : v.Index < 1800 ? v.Index / 2.0 : (object)(new string('x', 500) + v.Index), v.Item.Value.ToObject()));
    }

    [Fact]
    public async Task What_is_written_is_read_by_another_client()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "a", 1.5, writable: true);
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, "text"), "b", "x", writable: true);
            space.AddArrayVariable(AddressSpace.ObjectsFolder, new NodeId(2, 3), "c", new[] { 1, 2, 3 }, writable: true);
        });
        await using OpcUaClient writer = await server.ConnectAsync();
        await using OpcUaClient reader = await server.ConnectAsync();

        StatusCode[] statuses = await writer.WriteAsync(
            [new(new NodeId(2, 1), 2.5), new(new NodeId(2, "text"), "y"), new(new NodeId(2, 3), Variant.FromArray<int>([7]))]);
        DataValue[] values = await reader.ReadAsync([new NodeId(2, 1), new NodeId(2, "text"), new NodeId(2, 3)]);

        Assert.All(statuses, static s => Assert.Equal(StatusCodes.Good, s));
        Assert.Equal(2.5, values[0].Value.Get<double>());
        Assert.Equal("y", values[1].Value.Get<string>());
        Assert.Equal([7], values[2].Value.GetArray<int>()!);
    }

    [Fact]
    public async Task Each_node_has_its_own_status()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "a", 1, writable: true);
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 2), "b", 1);
        });
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue[] values = await client.ReadAsync([new NodeId(2, 9), new NodeId(2, 1), AddressSpace.ObjectsFolder]);
        StatusCode[] statuses = await client.WriteAsync(
            [new(new NodeId(2, 9), 1), new(new NodeId(2, 1), 2.5), new(new NodeId(2, 2), 2), new(AddressSpace.ObjectsFolder, 1)]);

        Assert.Equal(
            [StatusCodes.BadNodeIdUnknown, StatusCodes.Good, StatusCodes.BadAttributeIdInvalid], values.Select(static v => v.Status));
        Assert.Equal(
            [StatusCodes.BadNodeIdUnknown, StatusCodes.BadTypeMismatch, StatusCodes.BadNotWritable, StatusCodes.BadAttributeIdInvalid],
            statuses);
    }

    [Fact]
    public async Task An_encoding_can_be_named_for_structures_only()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "a", 1));
        using RawSession session = await RawSession.OpenAsync(server);
        (uint Namespace, uint Id, AttributeId Attribute, string Encoding, StatusCode Status)[] cases =
        [
            (0, 2256, AttributeId.Value, "Default Binary", StatusCodes.Good),
            (0, 2256, AttributeId.Value, "Default XML", StatusCodes.BadDataEncodingUnsupported),
            (0, 2256, AttributeId.DisplayName, "Default Binary", StatusCodes.BadDataEncodingInvalid),
            (2, 1, AttributeId.Value, "Default Binary", StatusCodes.BadDataEncodingInvalid),
            (2, 1, AttributeId.Value, "Default XML", StatusCodes.BadDataEncodingInvalid),
            (2, 1, AttributeId.BrowseName, "Default XML", StatusCodes.BadDataEncodingInvalid),
            (2, 9, AttributeId.Value, "Default Binary", StatusCodes.BadNodeIdUnknown),
        ];
        ReadValueId[] items =
        [
            .. cases.Select(static one => new ReadValueId
            {
                NodeId = new NodeId((ushort)one.Namespace, one.Id), AttributeId = (uint)one.Attribute, DataEncoding = one.Encoding,
            }),
        ];

        DataValue[] values = (await session.CallAsync<ReadRequest, ReadResponse>(new ReadRequest { NodesToRead = items })).Results!;
        MonitoredItemCreateResult[] made = (await session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(new()
        {
            SubscriptionId = await session.SubscribeAsync(),
            ItemsToCreate = [.. items.Select(static item => new MonitoredItemCreateRequest { ItemToMonitor = item })],
        })).Results!;

        Assert.Equal(cases.Select(static one => one.Status), values.Select(static value => value.Status));
        Assert.Equal(cases.Select(static one => one.Status), made.Select(static result => result.StatusCode));
    }

    [Fact]
    public async Task A_byte_string_is_taken_for_an_array_of_bytes()
    {
        NodeId array = new(2, 1), other = new(2, 2), any = new(2, 3), scalar = new(2, 4);
        await using TestServer server = await TestServer.StartAsync(space =>
        {
            space.AddArrayVariable(AddressSpace.ObjectsFolder, array, "array", new byte[] { 1, 2, 3 }, writable: true);
            space.AddArrayVariable(AddressSpace.ObjectsFolder, other, "other", new sbyte[] { 1 }, writable: true);
            space.AddVariableOfType(AddressSpace.ObjectsFolder, any, "any", BuiltInType.Null, valueRank: -2).IsWritable = true;
            space.AddVariable(AddressSpace.ObjectsFolder, scalar, "scalar", (byte)1, writable: true);
        });
        await using OpcUaClient client = await server.ConnectAsync();
        ByteString bytes = new byte[] { 4, 5, 6, 7 };

        StatusCode[] statuses = await client.WriteAsync([new(array, bytes), new(other, bytes), new(any, bytes), new(scalar, bytes)]);
        DataValue[] values = await client.ReadAsync([array, any]);

        Assert.Equal(
            [StatusCodes.Good, StatusCodes.BadTypeMismatch, StatusCodes.Good, StatusCodes.BadTypeMismatch], statuses);
        Assert.Equal([Variant.FromArray<byte>([4, 5, 6, 7]), bytes], values.Select(static value => value.Value));

        // A part, and none.
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(array, (ByteString)new byte[] { 8, 9 })], ["1:2"]));
        Assert.Equal(Variant.FromArray<byte>([4, 8, 9, 7]), (await client.ReadAsync([array]))[0].Value);
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(array, default(ByteString))]));
        Assert.Equal(Variant.FromArray<byte>(null), (await client.ReadAsync([array]))[0].Value);
    }

    [Fact]
    public async Task A_callback_that_throws_fails_its_node_alone()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "a", 1);
            space.AddVariable<int>(
                AddressSpace.ObjectsFolder, new NodeId(2, 2), "b", static () => throw new InvalidOperationException("on purpose"));
        });
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue[] values = await client.ReadAsync([new NodeId(2, 1), new NodeId(2, 2), new NodeId(2, 1)]);

        Assert.Equal(
            [(1, StatusCodes.Good), (Variant.Null, StatusCodes.BadInternalError), (1, StatusCodes.Good)],
            values.Select(static value => (value.Value, value.Status)));
    }

    [Fact]
    public async Task A_read_that_an_authorizer_ends_by_an_exception_returns_its_memory()
    {
        await using TestServer server = await TestServer.StartAsync(
            static space =>
            {
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "a", new string('x', 200_000));
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 2), "b", 1);
            },
            static options => options.AuthorizeVariable = static (in access) => access.Variable.Id == new NodeId(2, 1)
                ? true
                : throw new InvalidOperationException("on purpose"));
        using RawSession session = await RawSession.OpenAsync(server);
        ArrayPool<byte> pool = session.Channel.ServedBy(server).MessagePool;
        var request = new ReadRequest
        {
            NodesToRead =
            [
                new ReadValueId { NodeId = new NodeId(2, 1), AttributeId = (uint)AttributeId.Value },
                new ReadValueId { NodeId = new NodeId(2, 2), AttributeId = (uint)AttributeId.Value },
            ],
        };

        (StatusCode status, _) = await session.TryAsync<ReadRequest, ReadResponse>(request);

        // What counts in the budget of the server, whose type is the transports' own.
        Assert.Equal(StatusCodes.BadInternalError, status);
        Assert.Equal(0L, pool.GetType().GetProperty("Counted")!.GetValue(pool));
    }

    [Fact]
    public async Task A_request_that_lists_nothing_fails_with_endpoint_service_and_status()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(async () => await client.ReadAsync([]));

        Assert.Equal(StatusCodes.BadNothingToDo, e.Status);
        Assert.Equal($"Read of {server.Url} failed: BadNothingToDo.", e.Message);
    }

    [Fact]
    public async Task Many_requests_are_under_way_at_a_time()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            for (uint i = 0; i < 100; i++)
            {
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, i + 1), $"v{i}", (int)i);
            }
        });
        await using OpcUaClient client = await server.ConnectAsync();

        await Parallel.ForAsync(0, 2000, new ParallelOptions { MaxDegreeOfParallelism = 16 }, async (i, token) =>
        {
            DataValue[] values = await client.ReadAsync([new NodeId(2, (uint)(i % 100) + 1)], token);
            Assert.Equal(i % 100, values[0].Value.Get<int>());
        });
    }

    [Fact]
    public async Task A_session_ends_with_its_client()
    {
        await using TestServer server = await TestServer.StartAsync();
        OpcUaClient client = await server.ConnectAsync();
        Assert.Equal(1, server.Server.SessionCount);

        await client.DisposeAsync();

        Assert.Equal(0, server.Server.SessionCount);
    }
}
