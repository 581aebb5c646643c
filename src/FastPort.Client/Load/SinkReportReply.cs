using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Client.Load;

/// <summary>Waits for the server's count; without one, returns the kind of error.</summary>
internal sealed class SinkReportReply : PendingReply
{
    private readonly TaskCompletionSource<(SinkReport? Report, LoadErrorKind Kind, string? Problem)> _result = new(
        TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<(SinkReport? Report, LoadErrorKind Kind, string? Problem)> Task => _result.Task;

    protected internal override void OnReply(scoped in InboundReply reply)
    {
        if (reply.IsError)
        {
            (ErrorCode code, string message) = reply.ReadError();

            // A server that stops has not refused the request; its session ends without a count.
            LoadErrorKind kind = code == ErrorCode.ShuttingDown ? LoadErrorKind.Lost : LoadErrorKind.ErrorReply;
            _result.TrySetResult((null, kind, $"{code}: {message}"));
            return;
        }

        try
        {
            _result.TrySetResult((SinkReport.Parser.ParseFrom(reply.Body), default, null));
        }
        catch (InvalidProtocolBufferException e)
        {
            _result.TrySetResult((null, LoadErrorKind.Wrong, $"The reply is not a valid SinkReport message: {e.Message}"));
        }
    }

    protected internal override void OnFailed(RequestFailure failure, string message) =>
        _result.TrySetResult((null, LoadErrorKind.Lost, message));
}
