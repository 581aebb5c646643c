using System.Buffers;
using FastPort.Framing;

namespace FastPort.Sessions.Streams;

/// <summary>A call whose requests are a stream, with one reply.</summary>
internal sealed class RequestStream<TResult>(StreamStart start, ItemParser<TResult> parse) : StreamReply(start)
{
    private readonly TaskCompletionSource<TResult> _reply = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private TResult _result = default!;

    protected override bool HasOneReply => true;

    /// <summary>Makes the call.</summary>
    public async Task<TResult> CallAsync()
    {
        await OpenAsync(CancellationToken.None).ConfigureAwait(false);
        try
        {
            return await _reply.Task.ConfigureAwait(false);
        }
        finally
        {
            Unregister();
        }
    }

    public override Exception? OnItem(in ReadOnlySequence<byte> body) =>
        new RequestFailedException(ErrorCode.Overloaded, "The peer sent an item without credit: the call expects one reply.");

    // Nothing but the reply, which needs no credit.
    protected override CreditBody Prepare(Session session) => new(Correlation: 0, Messages: 0, Bytes: 0, CreditOf.Opening);

    protected override Exception? OnLast(in ReadOnlySequence<byte> body)
    {
        try
        {
            _result = parse(in body);
            return null;
        }
        catch (Exception e)
        {
            return e;
        }
    }

    protected override void OnEnded(Exception? failure, bool inBurst)
    {
        if (failure is null)
        {
            _reply.TrySetResult(_result);
        }
        else if (failure is OperationCanceledException canceled)
        {
            _reply.TrySetCanceled(canceled.CancellationToken);
        }
        else
        {
            _reply.TrySetException(failure);
        }
    }
}
