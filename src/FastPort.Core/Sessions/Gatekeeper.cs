namespace FastPort.Sessions;

/// <summary>An authoriser's answer about the frame at hand.</summary>
internal enum GateAnswer
{
    Allowed,
    Forbidden,

    /// <summary>Not known yet: the loop is resumed when it is, and asks again.</summary>
    Wait,
}

/// <summary>
/// Asks the authoriser about one frame at a time, on the loop. While it is still thinking, reading is paused and the frame stays in the
/// ring; the answer is kept for exactly that frame.
/// </summary>
internal sealed class Gatekeeper(Authoriser authoriser, FrameProtocol protocol)
{
    private readonly CancellationTokenSource _cancel = new();
    private Task<bool>? _pending;
    private bool _kept;

    public GateAnswer Ask(ushort type)
    {
        if (_kept)
        {
            _kept = false;
            return GateAnswer.Allowed;
        }

        bool allowed;
        if (_pending is not null)
        {
            if (!_pending.IsCompleted)
            {
                // Resumed by something else.
                return GateAnswer.Wait;
            }

            allowed = _pending.Result;
            _pending = null;
        }
        else
        {
            ValueTask<bool> answer = AskAsync(type);
            if (!answer.IsCompleted)
            {
                _pending = answer.AsTask();
                _pending.GetAwaiter().UnsafeOnCompleted(protocol.ResumeReading);
                return GateAnswer.Wait;
            }

            allowed = answer.Result;
        }

        return allowed ? GateAnswer.Allowed : GateAnswer.Forbidden;
    }

    /// <summary>The frame was allowed but has to wait for another reason: it is not asked about again.</summary>
    public void Keep() => _kept = true;

    // Asynchronously: a callback that throws or blocks must not keep the session from its end.
    public void OnClosed() => _ = _cancel.CancelAsync();

    private async ValueTask<bool> AskAsync(ushort type)
    {
        try
        {
            return await authoriser(protocol.Session, type, _cancel.Token).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            if (e is not OperationCanceledException)
            {
                SessionLog.HookFailed(protocol.Settings.Logger, protocol.Session, "authoriser", e);
            }

            return false;
        }
    }
}
