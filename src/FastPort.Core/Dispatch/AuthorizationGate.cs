using FastPort.Sessions;
using FastPort.Sessions.Lifecycle;

namespace FastPort.Dispatch;

/// <summary>The authorizer's answer about the current frame.</summary>
internal enum GateAnswer
{
    Allowed,
    Forbidden,

    /// <summary>No answer yet. The loop resumes the session when the answer arrives, and asks again.</summary>
    Wait,

    /// <summary>The authorizer did not answer in time.</summary>
    TimedOut,
}

/// <summary>
/// Asks the authorizer about one frame at a time, on the loop. Until the answer arrives, reading is paused and the frame stays in the ring.
/// The answer applies to that frame only.
/// </summary>
internal sealed class AuthorizationGate(Authorizer authorizer, SessionSettings settings, Session session)
{
    private readonly PendingDecision<bool> _wait = new(settings, session, "authorizer");
    private bool _kept;

    /// <summary>Whether the authorizer was asked about the current frame: the next <see cref="Ask"/> takes that answer.</summary>
    public bool HasAsked => _kept || _wait.IsAsked;

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
            CancellationToken token = _wait.Token;
            ValueTask<bool> answer = Call(request, token);
            if (!answer.IsCompletedSuccessfully)
            {
                _wait.Await(AwaitAsync(answer, token));
                return GateAnswer.Wait;
            }

            allowed = answer.Result;
        }

        return allowed ? GateAnswer.Allowed : GateAnswer.Forbidden;
    }

    /// <summary>Keeps the answer of an allowed frame whose handler has postponed it: the next <see cref="Ask"/> returns it.</summary>
    public void Keep() => _kept = true;

    /// <summary>Called on the loop at each tick of the coarse clock.</summary>
    public void OnTick(long nowMilliseconds) => _wait.OnTick(nowMilliseconds, settings.Options.AuthorizationTimeout);

    public void OnClosed() => _wait.OnClosed();

    // Not awaited here: most answers are available at once, and need no state machine.
    private ValueTask<bool> Call(AuthorizationRequest request, CancellationToken token)
    {
        try
        {
            return authorizer(request, token);
        }
        catch (Exception e)
        {
            _wait.Failed(e, token);
            return new ValueTask<bool>(false);
        }
        finally
        {
            NoContext.Restore();
        }
    }

    private async Task<bool> AwaitAsync(ValueTask<bool> answer, CancellationToken token)
    {
        try
        {
            return await answer.ConfigureAwait(false);
        }
        catch (Exception e)
        {
            _wait.Failed(e, token);
            return false;
        }
    }
}
