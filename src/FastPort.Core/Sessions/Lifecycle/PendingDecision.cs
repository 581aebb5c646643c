using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;

namespace FastPort.Sessions.Lifecycle;

/// <summary>What has become of a question.</summary>
internal enum DecisionState
{
    /// <summary>None yet: the loop is resumed when there is one, and asks again.</summary>
    Awaited,
    Given,

    /// <summary>None came in time; what may still come is not heard.</summary>
    GivenUp,
}

/// <summary>
/// Waits for the authenticator's or authorizer's answer to one question at a time, asked and taken on the loop. Meanwhile reading is paused
/// and the frame in question stays in the ring. The coarse clock gives up a call that takes too long.
/// <para>
/// Loop and clock may come to a question at the same time: whoever changes its state first decides, so a question that was answered is not
/// given up, and the token of a question that was given up serves no other.
/// </para>
/// </summary>
internal sealed class PendingDecision<T>(FrameProtocol protocol, string component)
{
    private CancellationTokenSource? _cancel;
    private Question? _question;

    /// <summary>Whether a question was asked whose answer has not been taken.</summary>
    public bool IsAsked => _question is not null;

    /// <summary>Cancelled when the question is given up or the session ends.</summary>
    public CancellationToken Token => (_cancel ??= new CancellationTokenSource()).Token;

    /// <summary>Begins to wait for an answer that is not there yet, asked for with <see cref="Token"/>.</summary>
    public void Await(Task<T> answer)
    {
        Volatile.Write(ref _question, new Question(answer, _cancel, protocol.Settings.Clock.PreciseMilliseconds));
        answer.GetAwaiter().UnsafeOnCompleted(protocol.ResumeReading);
    }

    public DecisionState Take(out T? answer)
    {
        answer = default;
        Question question = _question!;
        if (question.Answer.IsCompleted && question.TrySettle())
        {
            answer = question.Answer.Result;
            Volatile.Write(ref _question, null);
            return DecisionState.Given;
        }

        if (!question.IsSettled)
        {
            // Resumed by something else.
            return DecisionState.Awaited;
        }

        _cancel = null;
        Volatile.Write(ref _question, null);
        return DecisionState.GivenUp;
    }

    /// <summary>Coarse clock only: gives up a call that has taken longer.</summary>
    public void OnTick(long nowMilliseconds, TimeSpan limit)
    {
        if (limit > TimeSpan.Zero && Volatile.Read(ref _question) is { } question
            && nowMilliseconds - question.Since >= limit.TotalMilliseconds && question.TrySettle())
        {
            SessionLog.AuthorizationTimedOut(protocol.Settings.Logger, protocol.Session, component, limit);

            // Asynchronously: the clock serves all sessions.
            _ = question.Cancel?.CancelAsync();
            protocol.ResumeReading();
        }
    }

    // Asynchronously: a callback that throws or blocks must not keep the session from its end.
    public void OnClosed() => _ = _cancel?.CancelAsync();

    private sealed class Question(Task<T> answer, CancellationTokenSource? cancel, long since)
    {
        private int _settled;

        public Task<T> Answer { get; } = answer;

        public CancellationTokenSource? Cancel { get; } = cancel;

        public long Since { get; } = since;

        public bool IsSettled => Volatile.Read(ref _settled) != 0;

        public bool TrySettle() => Interlocked.Exchange(ref _settled, 1) == 0;
    }
}
