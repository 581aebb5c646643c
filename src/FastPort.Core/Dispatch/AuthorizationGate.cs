using FastPort.Sessions;
using FastPort.Sessions.Lifecycle;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;

namespace FastPort.Dispatch;

/// <summary>An authorizer's answer about the frame at hand.</summary>
internal enum GateAnswer
{
    Allowed,
    Forbidden,

    /// <summary>Not known yet: the loop is resumed when it is, and asks again.</summary>
    Wait,

    /// <summary>The authorizer did not answer in time.</summary>
    TimedOut,
}

/// <summary>
/// Asks the authorizer about one frame at a time, on the loop. While it is still thinking, reading is paused and the frame stays in the
/// ring; the answer is kept for exactly that frame.
/// </summary>
internal sealed class AuthorizationGate(Authorizer authorizer, FrameProtocol protocol)
{
    private readonly PendingDecision<bool> _wait = new(protocol, "authorizer");
    private bool _kept;

    /// <summary>Whether the next <see cref="Ask"/> is a new question, not another look for the answer to the one before.</summary>
    public bool AsksNext => !_kept && !_wait.IsAsked;

    public GateAnswer Ask(AuthorizationRequest request)
    {
        if (_kept)
        {
            _kept = false;
            return GateAnswer.Allowed;
        }

        bool allowed;
        if (_wait.IsAsked)
        {
            switch (_wait.Take(out allowed))
            {
                case DecisionState.Awaited:
                    return GateAnswer.Wait;
                case DecisionState.GivenUp:
                    return GateAnswer.TimedOut;
            }
        }
        else
        {
            ValueTask<bool> answer = AskAsync(request);
            if (!answer.IsCompleted)
            {
                _wait.Await(answer.AsTask());
                return GateAnswer.Wait;
            }

            allowed = answer.Result;
        }

        return allowed ? GateAnswer.Allowed : GateAnswer.Forbidden;
    }

    /// <summary>The frame was allowed but has to wait for another reason: it is not asked about again.</summary>
    public void Keep() => _kept = true;

    /// <summary>Coarse clock only.</summary>
    public void OnTick(long nowMilliseconds) => _wait.OnTick(nowMilliseconds, protocol.Settings.Options.AuthorizationTimeout);

    public void OnClosed() => _wait.OnClosed();

    private async ValueTask<bool> AskAsync(AuthorizationRequest request)
    {
        try
        {
            return await authorizer(request, _wait.Token).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            if (e is not OperationCanceledException)
            {
                SessionLog.AuthorizationFailed(protocol.Settings.Logger, protocol.Session, "authorizer", e);
            }

            return false;
        }
    }
}
