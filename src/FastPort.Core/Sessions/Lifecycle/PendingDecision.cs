using System.Diagnostics;
using FastPort.Sessions.Logging;

namespace FastPort.Sessions.Lifecycle;

/// <summary>The state of a question.</summary>
internal enum DecisionState
{
    /// <summary>No answer yet. The loop resumes the session when the answer arrives, and asks again.</summary>
    Awaited,
    Given,

    /// <summary>The time for the answer is over; a late answer is ignored.</summary>
    GivenUp,
}

/// <summary>
/// Waits for the authenticator's or authorizer's answer, one question at a time. Until the answer arrives, reading is paused and the frame
/// in question stays in the ring. A call that takes too long is given up.
/// <para>
/// All members but <see cref="Failed"/> run on the loop. The token of a question that was given up is not used for another.
/// </para>
/// </summary>
internal sealed class PendingDecision<T>(SessionSettings settings, Session session, string component)
{
    private CancellationTokenSource? _cancel;
    private Question? _question;

    /// <summary>Whether a question was asked and its answer has not been taken.</summary>
    public bool IsAsked => _question is not null;

    /// <summary>Canceled when the question is given up or the session ends.</summary>
    public CancellationToken Token => (_cancel ??= new CancellationTokenSource()).Token;

    /// <summary>
    /// Begins to wait for an answer that is not complete yet; the caller passed <see cref="Token"/> to the component.
    /// </summary>
    public void Await(Task<T> answer)
    {
        Debug.Assert(session.Connection.IsOnLoop);
        _question = new Question(answer, _cancel, settings.Clock.PreciseMilliseconds);
        answer.GetAwaiter().UnsafeOnCompleted(session.Connection.ResumeReading);
    }

    public DecisionState Take(out T? answer)
    {
        Debug.Assert(session.Connection.IsOnLoop);
        answer = default;
        Question question = _question!;
        if (question.IsGivenUp)
        {
            _cancel = null;
            _question = null;
            return DecisionState.GivenUp;
        }

        if (!question.Answer.IsCompleted)
        {
            // The session was resumed for another reason.
            return DecisionState.Awaited;
        }

        answer = question.Answer.Result;
        _question = null;
        return DecisionState.Given;
    }

    /// <summary>Called at each tick: gives up a question that is older than the limit. Zero is no limit.</summary>
    public void OnTick(long nowMilliseconds, TimeSpan limit)
    {
        if (limit > TimeSpan.Zero && _question is { IsGivenUp: false } question && !question.Answer.IsCompleted
            && nowMilliseconds - question.Since >= limit.TotalMilliseconds)
        {
            GiveUp(limit);
        }
    }

    /// <summary>Gives the question up. Returns who was asked it; null if there is none.</summary>
    /// <param name="limit">The time that has passed, for the log.</param>
    public string? GiveUp(TimeSpan limit)
    {
        if (_question is { IsGivenUp: false } question)
        {
            question.IsGivenUp = true;
            SessionLog.AuthorizationTimedOut(settings.Logger, session, component, limit);

            // Asynchronously: the loop must not run the component's cancellation callbacks.
            _ = question.Cancel?.CancelAsync();
            session.Connection.ResumeReading();
        }

        return IsAsked ? component : null;
    }

    /// <summary>
    /// Logs what the component threw, unless it only obeyed its token: a cancellation of its own, as a query's timeout, is a failure. Any
    /// thread.
    /// </summary>
    /// <param name="e">What it threw.</param>
    /// <param name="token">The token that was passed to it.</param>
    public void Failed(Exception e, CancellationToken token)
    {
        if (e is not OperationCanceledException || !token.IsCancellationRequested)
        {
            SessionLog.AuthorizationFailed(settings.Logger, session, component, e);
        }
    }

    // Asynchronously: a callback that throws or blocks must not keep the session from ending.
    public void OnClosed() => _ = _cancel?.CancelAsync();

    private sealed class Question(Task<T> answer, CancellationTokenSource? cancel, long since)
    {
        public Task<T> Answer { get; } = answer;

        public CancellationTokenSource? Cancel { get; } = cancel;

        public long Since { get; } = since;

        public bool IsGivenUp { get; set; }
    }
}
