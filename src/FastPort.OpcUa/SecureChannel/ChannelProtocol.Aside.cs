using System.Runtime.ExceptionServices;
using FastPort.Connections;

namespace FastPort.OpcUa.SecureChannel;

/// <content>Steps that take too long for the loop, and the release of shared resources.</content>
internal abstract partial class ChannelProtocol
{
    // Belong to the loop. The place references the step and its objects: null if the step ran at once, or has ended.
    private bool _isAside;
    private LinkedListNode<Action>? _asidePlace;

    // The connection, and each step under way.
    private int _users = 1;

    /// <summary>Whether a step runs aside: the channel's state is the step's. On the loop.</summary>
    protected bool IsAside => _isAside;

    /// <summary>
    /// Runs a step on the thread pool while reading pauses, so requests stay in order and the step may use the channel's state. On the
    /// loop, one step at a time. The step does not run if the connection ends before its turn; <see cref="Release"/> then releases its
    /// resources.
    /// </summary>
    /// <param name="step">The step. Returns why the channel must end; null to continue. An exception ends the connection.</param>
    /// <param name="then">Called on the loop after a step that succeeded, unless the connection has ended.</param>
    internal void RunAside(Func<ChannelFault?> step, Action then)
    {
        _isAside = true;
        Interlocked.Increment(ref _users);
        _asidePlace = AsideWork.Shared.Run(() =>
        {
            ChannelFault? fault = null;
            ExceptionDispatchInfo? thrown = null;
            try
            {
                // The close may take a while.
                fault = Connection.IsClosing ? null : step();
            }
            catch (Exception e)
            {
                thrown = ExceptionDispatchInfo.Capture(e);
            }

            Connection.Post(_ => EndAside(fault, thrown, then), null);
            Leave();
        });
    }

    /// <summary>The connection has ended and no step runs: releases buffers and keys. Called once, on any thread.</summary>
    protected virtual void Release()
    {
        Writer?.End();
        Tokens.Clear();
        Credentials?.Dispose();
        _plain?.Dispose();
        _openCopy?.Dispose();
        Incoming?.Dispose();
    }

    // On the loop, at the end of the connection: the step is no longer awaited.
    private void TakeBackStep()
    {
        LinkedListNode<Action>? place = _asidePlace;
        _asidePlace = null;
        if (place is not null && AsideWork.Shared.TryTakeBack(place))
        {
            Leave();
        }
    }

    private void EndAside(ChannelFault? fault, ExceptionDispatchInfo? thrown, Action then)
    {
        _asidePlace = null;
        _isAside = false;
        thrown?.Throw();
        if (Connection.IsClosing)
        {
            return;
        }

        if (fault is not null)
        {
            Fail(fault);
            return;
        }

        then();
        Connection.ResumeReading();
    }

    private void Leave()
    {
        if (Interlocked.Decrement(ref _users) == 0)
        {
            Release();
        }
    }
}
