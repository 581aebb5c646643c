using FastPort;
using System.Buffers;
using System.Diagnostics;
using FastPort.Framing;
using FastPort.Protocol;
using FastPort.Telemetry;
using Google.Protobuf;

namespace FastPortPeer.LockStep;

/// <summary>
/// One Echo request in flight at a time: the next is sent from the callback of the reply before, on the session's loop, to which everything
/// here belongs after <see cref="Start"/>.
/// </summary>
internal sealed class EchoTrip : PendingReply
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Session _session;
    private readonly byte[] _body;
    private readonly int _stampAt;
    private readonly long _until;
    private uint _stamp;
    private long _sentAt;

    /// <summary>Prepares round trips.</summary>
    /// <param name="session">Where to.</param>
    /// <param name="payloadBytes">Payload of a message, at least 4.</param>
    /// <param name="duration">How long.</param>
    public EchoTrip(Session session, int payloadBytes, TimeSpan duration)
    {
        _session = session;
        byte[] payload = new byte[payloadBytes];
        new Random(payloadBytes).NextBytes(payload);
        _body = new Echo { Payload = UnsafeByteOperations.UnsafeWrap(payload) }.ToByteArray();
        _stampAt = _body.Length - payloadBytes;
        _until = Stopwatch.GetTimestamp() + (long)(duration.TotalSeconds * Stopwatch.Frequency);
    }

    /// <summary>Completes when the time is up and the last reply has come; fails with the first wrong one.</summary>
    public Task Done => _done.Task;

    public LatencyHistogram RoundTrips { get; } = new();

    public void Start()
    {
        _sentAt = Stopwatch.GetTimestamp();
        Send();
    }

    protected override void OnReply(scoped in InboundReply reply)
    {
        if (reply.IsError || !IsEcho(reply.Body))
        {
            _done.TrySetException(
                new PeerException(
                    reply.IsError ? $"The server answered with {reply.ReadError()}." : $"The reply to request {_stamp} differs from it."));
            return;
        }

        long now = Stopwatch.GetTimestamp();
        RoundTrips.Record((long)((now - _sentAt) * NanosecondsPerTick));
        if (now >= _until)
        {
            _done.TrySetResult();
            return;
        }

        _sentAt = now;
        Send();
    }

    protected override void OnFailed(RequestFailure failure, string message) =>
        _done.TrySetException(new PeerException($"{failure}: {message}"));

    private void Send()
    {
        BitConverter.TryWriteBytes(_body.AsSpan(_stampAt), ++_stamp);
        SendStatus status = _session.TryRequest(DiagnosticType.Echo, new RawBody(_body), this, timing: false, TimeSpan.Zero, out _);
        if (status != SendStatus.Queued)
        {
            _done.TrySetException(new PeerException($"Request {_stamp} was not sent: {status}."));
        }
    }

    private bool IsEcho(in ReadOnlySequence<byte> body) =>
        body.IsSingleSegment ? body.FirstSpan.SequenceEqual(_body) : body.ToArray().AsSpan().SequenceEqual(_body);
}
