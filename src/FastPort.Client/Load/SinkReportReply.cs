using FastPort.Framing;
using FastPort.Protocol;
using FastPort.Sessions;
using Google.Protobuf;

namespace FastPort.Client.Load;

/// <summary>Waits for the server's count.</summary>
internal sealed class SinkReportReply : PendingReply
{
    private readonly TaskCompletionSource<(SinkReport? Report, string? Problem)> _result = new(
        TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<(SinkReport? Report, string? Problem)> Task => _result.Task;

    protected override void OnReply(scoped in InboundReply reply)
    {
        if (reply.IsError)
        {
            (ErrorCode code, string message) = reply.ReadError();
            _result.TrySetResult((null, $"{code}: {message}"));
            return;
        }

        try
        {
            _result.TrySetResult((SinkReport.Parser.ParseFrom(reply.Body), null));
        }
        catch (InvalidProtocolBufferException e)
        {
            _result.TrySetResult((null, $"The reply is not a valid SinkReport message: {e.Message}"));
        }
    }

    protected override void OnFailed(RequestFailure failure, string message) => _result.TrySetResult((null, message));
}
