using System.Buffers;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

public sealed class MethodTests
{
    private static readonly NodeId Owner = new(2, 1);
    private static readonly NodeId Method = new(2, 2);

    private static readonly MethodArgument[] TwoNumbers = [new("a", BuiltInType.Int32), new("b", BuiltInType.Int32)];
    private static readonly MethodArgument[] Sum = [new("sum", BuiltInType.Int32)];

    // Of no scalar type that there is.
    private static readonly Variant Unencodable = Variant.OfReference(BuiltInType.Variant, null);

    [Fact]
    public async Task A_method_gets_its_inputs_and_returns_its_outputs()
    {
        await using TestServer server = await StartAsync(static (inputs, _) =>
            new(MethodResult.Good(inputs.Span[0].Get<int>() + inputs.Span[1].Get<int>())));
        await using OpcUaClient client = await server.ConnectAsync();

        MethodCallResult result = await client.CallAsync(Owner, Method, [2, 40]);

        Assert.Equal((StatusCodes.Good, 42), (result.Status, Assert.Single(result.Outputs).Get<int>()));
    }

    [Fact]
    public async Task An_argument_of_any_type_takes_every_type()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddObject(AddressSpace.ObjectsFolder, Owner, "Owner");
            space.AddMethod(
                Owner,
                Method,
                "Method",
                [new("value", BuiltInType.Variant), new("values", BuiltInType.Variant, IsArray: true)],
                [new("first", BuiltInType.Variant), new("second", BuiltInType.Variant, IsArray: true)],
                static (inputs, _) => new(MethodResult.Good(inputs.ToArray())));
        });
        await using OpcUaClient client = await server.ConnectAsync();

        foreach ((Variant value, Variant values) in new (Variant, Variant)[]
        {
            (1, Variant.FromArray(["x"])), ("x", Variant.FromArray([1.0])), (Variant.Null, Variant.FromArray<Variant>([1, "x"])),
        })
        {
            MethodCallResult result = await client.CallAsync(Owner, Method, [value, values]);
            Assert.Equal(StatusCodes.Good, result.Status);
            Assert.Equal([value, values], result.Outputs);
        }

        Assert.Equal(StatusCodes.BadInvalidArgument, (await client.CallAsync(Owner, Method, [1, 1])).Status);
    }

    [Fact]
    public async Task A_byte_string_is_taken_for_an_array_of_bytes()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddObject(AddressSpace.ObjectsFolder, Owner, "Owner");
            space.AddMethod(
                Owner,
                Method,
                "Method",
                [new("bytes", BuiltInType.Byte, IsArray: true), new("value", BuiltInType.Variant)],
                [new("sum", BuiltInType.Int32), new("value", BuiltInType.Variant)],
                static (inputs, _) => new(MethodResult.Good(inputs.Span[0].GetArray<byte>()!.Sum(static b => b), inputs.Span[1])));
        });
        await using OpcUaClient client = await server.ConnectAsync();
        ByteString bytes = new byte[] { 1, 2, 3 };

        MethodCallResult result = await client.CallAsync(Owner, Method, [bytes, bytes]);

        Assert.Equal(StatusCodes.Good, result.Status);
        Assert.Equal([6, bytes], result.Outputs);
    }

    [Fact]
    public async Task A_method_may_be_named_by_its_declaration_in_the_type_of_the_object()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
            space.AddObject(AddressSpace.ObjectsFolder, Owner, "Owner"));
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync();

        // GetMonitoredItems of ServerType, of the Server object, and of an object of another type.
        (NodeId Object, uint Method, StatusCode Status)[] cases =
        [
            (new NodeId(0, 2253), 11489, StatusCodes.Good),
            (new NodeId(0, 2253), 11492, StatusCodes.Good),
            (Owner, 11489, StatusCodes.BadMethodInvalid),
        ];
        CallMethodResult[] results = (await session.CallAsync<CallRequest, CallResponse>(new CallRequest
        {
            MethodsToCall =
            [
                .. cases.Select(one => new CallMethodRequest
                {
                    ObjectId = one.Object, MethodId = new NodeId(0, one.Method), InputArguments = [id],
                }),
            ],
        })).Results!;

        Assert.Equal(cases.Select(static one => one.Status), results.Select(static result => result.StatusCode));
        Assert.Empty(results[0].OutputArguments![0].GetArray<uint>()!);
    }

    [Fact]
    public async Task A_method_that_takes_its_time_does_not_hold_up_others()
    {
        var gate = new TaskCompletionSource();
        await using TestServer server = await StartAsync(async (inputs, _) =>
        {
            await gate.Task;
            return MethodResult.Good(1);
        });
        await using OpcUaClient client = await server.ConnectAsync();

        Task<MethodCallResult> call = client.CallAsync(Owner, Method, [1, 2]).AsTask();
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
        Assert.False(call.IsCompleted);
        gate.SetResult();

        Assert.Equal(StatusCodes.Good, (await call).Status);
    }

    [Fact]
    public async Task What_is_wrong_with_a_call_is_said()
    {
        await using TestServer server = await StartAsync(static (_, _) => throw new InvalidOperationException("on purpose"));
        await using OpcUaClient client = await server.ConnectAsync();

        Assert.Equal(StatusCodes.BadArgumentsMissing, (await client.CallAsync(Owner, Method, [1])).Status);
        Assert.Equal(StatusCodes.BadTooManyArguments, (await client.CallAsync(Owner, Method, [1, 2, 3])).Status);
        Assert.Equal(StatusCodes.BadInvalidArgument, (await client.CallAsync(Owner, Method, [1, "x"])).Status);
        Assert.Equal(StatusCodes.BadMethodInvalid, (await client.CallAsync(Owner, new NodeId(2, 9), [1, 2])).Status);
        Assert.Equal(StatusCodes.BadMethodInvalid, (await client.CallAsync(AddressSpace.ObjectsFolder, Method, [1, 2])).Status);
        Assert.Equal(StatusCodes.BadNodeIdUnknown, (await client.CallAsync(new NodeId(2, 9), Method, [1, 2])).Status);
        Assert.Equal(StatusCodes.BadNodeIdInvalid, (await client.CallAsync(new NodeId(0, 2258), Method, [1, 2])).Status);
        Assert.Equal(StatusCodes.BadNodeIdInvalid, (await client.CallAsync(Method, Method, [1, 2])).Status);
        Assert.Equal(StatusCodes.BadInternalError, (await client.CallAsync(Owner, Method, [1, 2])).Status);
    }

    [Fact]
    public async Task A_session_has_so_many_calls_under_way()
    {
        var gate = new TaskCompletionSource();
        await using TestServer server = await StartAsync(
            async (_, _) =>
            {
                await gate.Task;
                return MethodResult.Good(1);
            },
            static o => o.MaxRunningRequestsPerSession = 2);
        await using OpcUaClient client = await server.ConnectAsync();
        await using OpcUaClient other = await server.ConnectAsync();

        Task<MethodCallResult>[] calls = [.. new[] { client, client, other }.Select(one => one.CallAsync(Owner, Method, [1, 2]).AsTask())];
        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(async () => await client.CallAsync(Owner, Method, [1, 2]));
        gate.SetResult();

        Assert.Equal(StatusCodes.BadTooManyOperations, e.Status);
        Assert.All(await Task.WhenAll(calls), static result => Assert.Equal(StatusCodes.Good, result.Status));
        Assert.Equal(StatusCodes.Good, (await client.CallAsync(Owner, Method, [1, 2])).Status);
    }

    [Theory]
    [InlineData(1_000)]
    [InlineData(1_000_000)]
    [InlineData(20_000_000)]
    public async Task Byte_strings_of_any_size_come_in_chunks(int size)
    {
        byte[] bytes = new byte[size];
        new Random(size).NextBytes(bytes);
        await using TestServer server = await StartAsync(
            (_, _) => new(MethodResult.Good((ByteString)bytes)), static o => o.MaxMessageBytes = 32_000_000);
        await using OpcUaClient client = await server.ConnectAsync();

        MethodCallResult result = await client.CallAsync(Owner, Method, [1, 2]);

        Assert.True(result.Outputs[0].Get<ByteString>().Span.SequenceEqual(bytes));
    }

    [Fact]
    public async Task A_response_larger_than_the_client_accepts_is_refused()
    {
        await using TestServer server = await StartAsync(static (_, _) => new(MethodResult.Good((ByteString)new byte[2_000_000])));
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { MaxMessageBytes = 1_000_000 });

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(async () => await client.CallAsync(Owner, Method, [1, 2]));

        Assert.Equal(StatusCodes.BadResponseTooLarge, e.Status);
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
    }

    [Fact]
    public async Task A_response_that_many_outputs_make_too_large_is_not_encoded_to_its_end()
    {
        int calls = 0;
        var large = Variant.FromArray(new int[10_000]);

        // The last output cannot be encoded; it is not reached.
        await using TestServer server = await StartAsync(
            (_, _) => new(MethodResult.Good(++calls == 100 ? Unencodable : large)), static o => o.MaxMessageBytes = 1_000_000);
        using RawSession session = await RawSession.OpenAsync(server);

        (StatusCode status, _) = await session.TryAsync<CallRequest, CallResponse>(Calls(100));

        Assert.Equal((StatusCodes.BadResponseTooLarge, 100), (status, calls));
        Assert.Equal(StatusCodes.Good, (await session.TryAsync<CallRequest, CallResponse>(Calls(1))).Status);
    }

    [Fact]
    public async Task Methods_are_not_run_for_outputs_that_fit_no_response()
    {
        int calls = 0;
        await using TestServer server = await StartAsync(
            (_, _) =>
            {
                calls++;
                return new(MethodResult.Good((ByteString)new byte[10_000_000]));
            },
            static o => o.MaxMessageBytes = 1_000_000);
        using RawSession session = await RawSession.OpenAsync(server);

        (StatusCode status, _) = await session.TryAsync<CallRequest, CallResponse>(Calls(100));

        Assert.Equal((StatusCodes.BadResponseTooLarge, 8), (status, calls));
    }

    [Fact]
    public async Task A_response_that_cannot_be_encoded_is_answered_and_returns_its_memory()
    {
        await using TestServer server = await StartAsync(
            static (_, _) => new(MethodResult.Good(Variant.FromArray(new int[100_000]), Unencodable)));
        using RawSession session = await RawSession.OpenAsync(server);
        ArrayPool<byte> pool = session.Channel.ServedBy(server).MessagePool;

        (StatusCode status, _) = await session.TryAsync<CallRequest, CallResponse>(Calls(1));

        // What counts in the budget of the server, whose type is the transports' own.
        Assert.Equal(StatusCodes.BadInternalError, status);
        Assert.Equal(0L, pool.GetType().GetProperty("Counted")!.GetValue(pool));
    }

    [Fact]
    public async Task The_arguments_are_described()
    {
        await using TestServer server = await StartAsync(static (_, _) => new(MethodResult.Good(1)));
        await using OpcUaClient client = await server.ConnectAsync();

        IReadOnlyList<ReferenceDescription> properties = await client.BrowseAsync(Method);
        DataValue[] values = await client.ReadAsync([.. properties.Select(static p => p.NodeId.NodeId)]);

        Assert.Equal(["InputArguments", "OutputArguments"], properties.Select(static p => p.BrowseName.Name));
        Assert.Equal([2, 1], values.Select(static v => v.Value.GetArray<ExtensionObject>()!.Length));
    }

    private static CallRequest Calls(int count) => new()
    {
        MethodsToCall =
            [.. Enumerable.Repeat(new CallMethodRequest { ObjectId = Owner, MethodId = Method, InputArguments = [1, 2] }, count)],
    };

    private static Task<TestServer> StartAsync(MethodHandler handler, Action<OpcUaServerOptions>? configure = null) =>
        TestServer.StartAsync(
        space =>
        {
            space.AddObject(AddressSpace.ObjectsFolder, Owner, "Owner");
            space.AddMethod(Owner, Method, "Method", TwoNumbers, Sum, handler);
        },
        configure);
}
