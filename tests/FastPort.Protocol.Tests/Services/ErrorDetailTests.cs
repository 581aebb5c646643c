using System.Runtime.CompilerServices;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Xunit;

namespace FastPort.Protocol.Tests.Services;

/// <summary>Errors with a message for programs.</summary>
public sealed class ErrorDetailTests
{
    public static TheoryData<string> Kinds => ["Walk", "Turn", "Look"];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task The_detail_of_a_refusal_reaches_the_caller(string method)
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new RefusingService(100)));
        var client = new WalkingClient(loop.Client);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => method switch
        {
            "Walk" => client.WalkAsync(new Step()),
            "Turn" => client.TurnAsync(new Step()),
            _ => client.LookAsync(new Step()),
        });

        Assert.Equal(ErrorCode.Forbidden, failure.Code);
        Assert.Contains("Not this way.", failure.Message, StringComparison.Ordinal);
        Assert.True(failure.TryGetDetail(out Place? detail));
        Assert.Equal((100, 100), (detail.East, detail.Note.Length));

        // Another message is not mistaken for it.
        Assert.False(failure.TryGetDetail(out Step? _));
    }

    [Fact]
    public async Task The_detail_of_a_streams_refusal_reaches_its_reader()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new RefusingCounts()));
        var client = new CountingClient(loop.Client);

        RequestFailedException reading = await Assert.ThrowsAsync<RequestFailedException>(async () =>
        {
            await foreach (Number number in client.CountAsync(new Number()))
            {
                Assert.Equal(1, number.Value);
            }
        });
        RequestFailedException sending = await Assert.ThrowsAsync<RequestFailedException>(() => client.SumAsync(None()));

        Assert.True(reading.TryGetDetail(out Number? first));
        Assert.True(sending.TryGetDetail(out Number? second));
        Assert.Equal((7L, 8L), (first.Value, second.Value));
    }

    [Fact]
    public async Task A_detail_that_exceeds_the_frame_limit_is_omitted()
    {
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers().MapService(new RefusingService(2000)), configure: static options => options.Session.MaxFrameBytes = 1024);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => new WalkingClient(loop.Client).LookAsync(new Step()));

        Assert.Equal(ErrorCode.Forbidden, failure.Code);
        Assert.Contains("Not this way.", failure.Message, StringComparison.Ordinal);
        Assert.True(failure.Detail.IsEmpty);
        Assert.False(failure.TryGetDetail(out Place? _));
    }

    [Fact]
    public async Task A_peer_that_does_not_know_details_gets_none()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapService(new RefusingService(100)));
        using RawPeer peer = await RawPeer.ConnectAsync(loop.Server.Endpoints[0]);
        await peer.CallAsync(Wire.Request(Wire.Hello, 1, Wire.Number(4, 3)));

        WireFrame error = await peer.CallAsync(Wire.Request(WalkingMethods.Look.Type, 2));

        Assert.Equal((6u, 0), (error.ErrorCode, error.CountAt(3)));
    }

    [Fact]
    public void Bytes_that_are_no_detail_are_none()
    {
        var broken = new RequestFailedException(ErrorCode.Forbidden, "No.", Loopback.NoMessage);
        var cut = new RequestFailedException(
            ErrorCode.Forbidden,
            "No.",
            new Any { TypeUrl = "type.googleapis.com/walking.Place", Value = ByteString.CopyFrom(Loopback.NoMessage) }.ToByteArray());

        Assert.False(broken.TryGetDetail(out Place? _));
        Assert.False(cut.TryGetDetail(out Place? _));
        Assert.False(new RequestFailedException(ErrorCode.Forbidden, "No.").TryGetDetail(out Place? _));
    }

    private static async IAsyncEnumerable<Number> None()
    {
        await Task.CompletedTask;
        yield break;
    }

    private static RequestRefusedException Refusal(IMessage detail) =>
        new RequestRefusedException(ErrorCode.Forbidden, "Not this way.").WithDetail(detail);

    private sealed class RefusingService(int noteLength) : WalkingBase
    {
        public override async ValueTask<Place> WalkAsync(Step request, RequestContext context)
        {
            await Task.Yield();
            throw Refused();
        }

        public override ValueTask<Place> TurnAsync(Step request, RequestContext context) => throw Refused();

        public override Place Look(Step request, Session session) => throw Refused();

        private RequestRefusedException Refused() => Refusal(new Place { East = 100, Note = new string('n', noteLength) });
    }

    private sealed class RefusingCounts : CountingBase
    {
        public override async IAsyncEnumerable<Number> CountAsync(
            Number request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
        {
            yield return new Number { Value = 1 };
            await Task.Yield();
            throw Refusal(new Number { Value = 7 });
        }

        public override ValueTask<Number> SumAsync(
            IAsyncEnumerable<Number> requests, StreamContext context, CancellationToken cancellationToken) =>
            throw Refusal(new Number { Value = 8 });
    }
}
