using System.Globalization;
using System.Text;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Lifecycle;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>
/// One session that ends in a random order of events. The loop is the test's thread, and the clock one that the test moves. The loop waits
/// for each call from another thread, and what such a call posts to the loop is an event of its own. So a seed always has the same course.
/// The course says what can be seen from outside only: frames, results, the close.
/// </summary>
internal sealed class SessionScenario : IDisposable
{
    private const ushort Inline = 0x1001;
    private const ushort Queued = 0x1002;
    private const ushort Push = 0x1003;
    private const ushort Own = 0x1004;

    // What a program or a queued handler may call from any thread.
    private static readonly HashSet<string> FromAnyThread =
        ["oldest answers", "newest answers", "push", "own request", "close", "leave", "kick", "abort"];

    private readonly Random _random;
    private readonly Callers _callers;
    private readonly bool _accepts;
    private readonly QuietSession _session;
    private readonly EndRules _rules;
    private readonly List<TaskCompletionSource> _held = [];
    private readonly List<uint> _own = [];
    private readonly List<string> _seen = [];
    private readonly StringBuilder _course = new();
    private uint _correlation;
    private int _resumes;
    private int _told;
    private int _sent;
    private byte[] _rest = [];
    private bool _inputEnded;
    private bool _isParked;
    private Exception? _failure;

    /// <param name="seed">Decides the events.</param>
    /// <param name="callers">The threads that make the calls.</param>
    public SessionScenario(int seed, Callers callers)
    {
        _random = new Random(seed);
        _callers = callers;
        _accepts = _random.Next(3) != 0;
        _session = new QuietSession(
            handlers => handlers
                .MapInline(Inline, (ref InlineRequest request) =>
                {
                    Park();
                    request.Reply([1]);
                    Park();
                })
                .MapQueued(Queued, HoldAsync, beginsOnLoop: true),
            options =>
            {
                options.Session.MaxConcurrency = 64;
                options.ShutdownGrace = TimeSpan.FromMilliseconds(_random.Next(2) * 500);
            },
            _accepts);
        _session.Connection.Loop = Thread.CurrentThread;
        _session.Telling = Park;
        _rules = new EndRules(_session);
    }

    /// <summary>The moves of the session's end, one per event that caused any.</summary>
    public List<EndMove> Moves { get; } = [];

    /// <summary>The rules that the course has broken, a sentence each.</summary>
    public IEnumerable<string> Broken => _rules.Broken();

    /// <summary>Runs some events and returns the course, one line an event.</summary>
    public string Run()
    {
        _course.Append(_accepts ? "server" : "client").Append('\n');
        if (_random.Next(8) != 0)
        {
            Step(_accepts ? "hello" : "welcome", Identify);
        }

        for (int i = 0; i < 16 && _session.Connection.Reason is null; i++)
        {
            (string name, Action act) = Next();
            if (_callers != Callers.Loop && FromAnyThread.Contains(name) && _random.Next(3) != 0)
            {
                StepElsewhere(name, act);
                continue;
            }

            // What other threads have posted comes before what happens on the loop, or after it.
            bool isPostedFirst = HasTurn && _random.Next(2) == 0;
            if (isPostedFirst)
            {
                RunPosted();
            }

            Step(name, act);
            if (!isPostedFirst)
            {
                RunPosted();
            }
        }

        RunPosted();

        // Every course ends alike: the held requests are answered, then two minutes pass.
        Step("held requests end", () =>
        {
            while (_held.Count != 0)
            {
                Answer(0);
            }
        });
        Step("two minutes", () => Advance(120_000));
        RunPosted();
        Assert.Null(_failure);
        return _course.ToString();
    }

    public void Dispose() => _session.Dispose();

    private (string Name, Action Act) Next() => _random.Next(26) switch
    {
        0 or 1 => ("inline request", () => Receive(Wire.Request(Inline, ++_correlation))),
        2 or 3 or 4 => ("queued request", () => Receive(Wire.Request(Queued, ++_correlation))),
        5 => ("queued message", () => Receive(Wire.Post(Queued))),
        6 => ("requests in one burst", () => Receive(
            [.. Wire.Request(Queued, ++_correlation), .. Wire.Request(Inline, ++_correlation), .. Wire.Request(Inline, ++_correlation)])),
        7 or 8 or 9 => ("oldest answers", () => Answer(0)),
        10 => ("newest answers", () => Answer(_held.Count - 1)),
        11 => ("push", () => _seen.Add($"push {_session.Session.TrySend(Push, [5])}")),
        12 or 13 => ("own request", Ask),
        14 => ("peer replies", Reply),
        15 => ("peer says Goodbye", () => Receive(Wire.GoodbyePost(0, "bye"))),
        16 => ("peer ends", () => End(truncated: false)),
        17 => _random.Next(3) == 0 ? ("peer ends within a frame", () => End(truncated: true)) : ("peer pings", Ping),
        18 => ("server stops", () => _session.Protocol.OnStopping(CloseReason.Stopping)),
        19 => ("close", () => _ = _session.Session.CloseAsync()),
        20 => _random.Next(2) == 0
            ? ("kick", Kick)
            : ("half a request", () => ReceiveHalf(Wire.Request(Inline, ++_correlation))),
        21 => _accepts ? ("a second", () => Advance(1000)) : ("leave", () => _session.Protocol.Leave(CloseReason.LocalClosed)),
        22 => _random.Next(3) == 0 ? ("abort", _session.Session.Abort) : ("100 ms", () => Advance(100)),
        23 => ("200 ms", () => Advance(200)),
        24 => ("a second", () => Advance(1000)),
        _ => ("40 seconds", () => Advance(40_000)),
    };

    // A call that another thread makes while the loop is within its work.
    private (string Name, Action Act) NextMeanwhile() => _random.Next(12) switch
    {
        0 or 1 => ("oldest answers", () => Answer(0)),
        2 => ("newest answers", () => Answer(_held.Count - 1)),
        3 or 4 => ("push", () => _seen.Add($"push {_session.Session.TrySend(Push, [5])}")),
        5 or 6 => ("own request", Ask),
        7 => ("close", () => _ = _session.Session.CloseAsync()),
        8 => ("kick", Kick),
        9 => ("abort", _session.Session.Abort),
        10 when !_accepts => ("leave", () => _session.Protocol.Leave(CloseReason.LocalClosed)),
        _ => ("own request is canceled", Cancel),
    };

    // The loop is within its work: a handler runs, or a callback. Another thread may make a call, and the loop continues when it has ended.
    private void Park()
    {
        if (_callers != Callers.OtherThreadsDuringWork || _isParked || !_session.Connection.IsOnLoop || _random.Next(3) != 0)
        {
            return;
        }

        _isParked = true;
        (string name, Action act) = NextMeanwhile();
        _seen.Add($"({name} elsewhere)");
        CallElsewhere(act);
        _rules.Look();
        _isParked = false;
    }

    // Whether another thread has left something to do for the loop.
    private bool HasTurn => _session.Connection.HasPosted
        || (_session.Connection.Reason is null && _session.Connection.Resumes != _resumes);

    private void RunPosted()
    {
        if (HasTurn)
        {
            Step("posted", _session.Connection.RunPosted);
        }
    }

    private void Identify()
    {
        if (_accepts)
        {
            Receive(Wire.HelloRequest(++_correlation, "ann"));
        }
        else
        {
            _session.Protocol.Welcomed(new WelcomeBody(1, "test", 0, 0));
        }
    }

    private void Ping() => Receive(Wire.PingRequest(++_correlation));

    private void Receive(byte[] bytes)
    {
        if (_inputEnded)
        {
            return;
        }

        byte[] arriving = [.. _rest, .. bytes];
        if (_session.Connection.Reason is null)
        {
            _rules.Arrive(arriving);
        }

        // A paused connection reads on when it is resumed.
        _session.Connection.Arrive(arriving);
        _rest = [];
        if (_session.Connection.Outcome != ReceiveOutcome.Pause || _session.Connection.Resumes != _resumes)
        {
            Offer();
        }
    }

    // The other half comes with the next frame, or never.
    private void ReceiveHalf(byte[] frame)
    {
        Receive(frame[..7]);
        _rest = frame[7..];
    }

    private void Kick()
    {
        _rules.IsCut = true;
        _session.Session.Kick(ErrorCode.Forbidden, "kicked");
    }

    private void Offer()
    {
        _resumes = _session.Connection.Resumes;
        _session.Connection.Offer();
    }

    private void End(bool truncated)
    {
        if (!_inputEnded)
        {
            _inputEnded = true;
            _rules.IsCut |= truncated;
            _session.Protocol.OnInputEnded(truncated);
        }
    }

    private async ValueTask HoldAsync(RequestContext context)
    {
        // The continuation runs on the thread that releases it, which is the test's.
        var held = new TaskCompletionSource();
        _held.Add(held);
        Park();
        await held.Task;
        context.Reply([2]);
    }

    private void Answer(int which)
    {
        if (which >= 0 && which < _held.Count)
        {
            TaskCompletionSource held = _held[which];
            _held.RemoveAt(which);
            held.SetResult();
        }
    }

    private void Ask()
    {
        var asked = new Asked(_seen, Park);
        SendStatus status = _session.Session.TryRequest(
            Own, new EmptyBody(), asked, timing: false, TimeSpan.FromSeconds(5), out uint correlation);
        _seen.Add($"own {status}");
        if (status == SendStatus.Queued)
        {
            _own.Add(correlation);
        }

        _rules.Ask(asked, status == SendStatus.Queued);
    }

    private void Reply()
    {
        if (_own.Count != 0)
        {
            uint correlation = _own[0];
            _own.RemoveAt(0);
            Receive(Wire.Frame(Own, Wire.Reply, correlation, [9]));
        }
    }

    private void Cancel()
    {
        if (_own.Count != 0)
        {
            uint correlation = _own[0];
            _own.RemoveAt(0);
            _seen.Add($"canceled {_session.Session.Cancel(correlation)}");
        }
    }

    private void Advance(int milliseconds)
    {
        bool isOpen = _session.Connection.Reason is null;
        _session.Time.Advance(TimeSpan.FromMilliseconds(milliseconds));

        // A deadline does not wait for requests.
        _rules.IsCut |= isOpen && _session.Connection.Reason is not null && milliseconds > 1000;
    }

    private void Step(string name, Action act) => Record(name, () =>
    {
        act();
        while (_session.Connection.Reason is null && _session.Connection.Resumes != _resumes)
        {
            Offer();
        }

        if (_session.Connection.Reason is null)
        {
            _session.Protocol.Output.Flush();
        }
    });

    // Without a flush: what another thread sends is sent at once.
    private void StepElsewhere(string name, Action act) => Record($"{name} elsewhere", () => CallElsewhere(act));

    private void CallElsewhere(Action act)
    {
        Exception? failure = null;
        var thread = new Thread(() => failure = Xunit.Record.Exception(act));
        thread.Start();
        if (!thread.Join(Patience.Limit))
        {
            failure = new TimeoutException("The call waits for the loop.");
        }

        // Not thrown here: the session would take it for a handler's.
        _failure ??= failure;
    }

    private void Record(string name, Action act)
    {
        EndState before = _session.Protocol.End.State;
        act();
        _rules.Look();
        if (_session.Protocol.End.State is var after && after != before)
        {
            Moves.Add(new EndMove(name, before, after));
        }

        _seen.AddRange(_session.Connection.SentFrames.Skip(_sent).Select(Text));
        _sent = _session.Connection.SentFrames.Count;
        _seen.AddRange(_session.Told.Skip(_told));
        _told = _session.Told.Count;
        string end = _session.Connection.Reason is { } closed ? $"closed {closed.Kind}"
            : _session.Protocol.End.Reason is { } ending ? $"ending {ending.Kind}"
            : "open";
        _course.Append(CultureInfo.InvariantCulture, $"{name}: {string.Join(", ", _seen)}{(_seen.Count == 0 ? "" : "; ")}{end}\n");
        _seen.Clear();
    }

    // "reply 5", "error 8 of 5", "message 3", with the code that a Goodbye or an error carries.
    private static string Text(byte[] frame)
    {
        ushort type = BitConverter.ToUInt16(frame, 4);
        uint correlation = BitConverter.ToUInt32(frame, 8);
        ulong code = frame.Length > 13 && frame[12] == 8 ? frame[13] : 0u;
        return (frame[6] & (Wire.Reply | Wire.Error | Wire.OneWay)) switch
        {
            Wire.Reply => $"reply {correlation}",
            Wire.Reply | Wire.Error or Wire.Error => $"error {code} of {correlation}",
            Wire.OneWay => type == Wire.Goodbye ? $"Goodbye {code}" : $"message {type:X4}",
            _ => $"request {type:X4}",
        };
    }
}
