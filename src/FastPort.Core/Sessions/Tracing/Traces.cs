using System.Diagnostics;
using System.Net;
using System.Runtime.CompilerServices;
using FastPort.Framing;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Receiving;

namespace FastPort.Sessions.Tracing;

/// <summary>
/// The <see cref="ActivitySource"/> named <c>FastPort</c>: names and tags of its activities. Without a listener, a sent request and a burst
/// of received requests each cost one check of <see cref="IsOn"/>.
/// </summary>
internal static class Traces
{
    private const string SystemName = "fastport";

    private static readonly ActivitySource Source = new("FastPort", typeof(Traces).Assembly.GetName().Version?.ToString(3));

    /// <summary>Whether there is a listener.</summary>
    public static bool IsOn
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Source.HasListeners();
    }

    /// <summary>
    /// Gets the context that a message sent now passes on: that of <see cref="Activity.Current"/>. An ended activity is no longer a cause:
    /// it stays current in flows that outlive it, such as a reconnecting client's.
    /// </summary>
    public static bool TryGetContext(out ActivityContext context)
    {
        if (Activity.Current is { IdFormat: ActivityIdFormat.W3C, IsStopped: false } current)
        {
            context = current.Context;
            return true;
        }

        context = default;
        return false;
    }

    /// <summary>Starts the activity of a message to the peer, and makes it current; null if no listener samples it.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="name">The message's name; null for none.</param>
    /// <param name="kind">Client for a request, Producer for a one-way message.</param>
    public static Activity? StartOutgoing(ushort type, string? name, ActivityKind kind)
    {
        if (Activity.Current is { IsStopped: true })
        {
            Activity.Current = null;
        }

        return Describe(Source.StartActivity(name ?? ControlType.NameOf(type) ?? $"0x{type:X4}", kind), type);
    }

    /// <summary>
    /// Starts the activity of a message from the peer; null if no listener samples it. On the loop, where no activity is current, before
    /// and after.
    /// </summary>
    public static Activity? StartIncoming(ushort type, string name, bool isOneWay, in ActivityContext parent)
    {
        Activity? activity = Source.StartActivity(name, isOneWay ? ActivityKind.Consumer : ActivityKind.Server, parent);
        NoContext.Restore();
        return Describe(activity, type);
    }

    /// <summary>
    /// Ends the activity of a message to the peer with the task, which has begun under it, and restores the caller's activity.
    /// </summary>
    /// <param name="task">The reply, or the status of what was sent.</param>
    /// <param name="activity">The activity, which is current.</param>
    /// <param name="outer">The caller's activity; null for none.</param>
    public static Task<T> EndWithAsync<T>(Task<T> task, Activity activity, Activity? outer)
    {
        // Code after an await has kept the activity as its current one.
        GoBackTo(outer);
        return AwaitAsync();

        async Task<T> AwaitAsync()
        {
            try
            {
                T result = await task.ConfigureAwait(false);
                if (result is SendStatus status and not SendStatus.Queued)
                {
                    SetFailed(activity, status.ToString());
                }

                return result;
            }
            catch (Exception e)
            {
                SetFailed(activity, e);
                throw;
            }
            finally
            {
                activity.Stop();
            }
        }
    }

    /// <summary>
    /// Ends the activity of a message from the peer; null for none. A program's listener that throws is logged, because the message has
    /// been handled and its counted resources must still be released.
    /// </summary>
    public static void Stop(Activity? activity, FrameProtocol protocol)
    {
        try
        {
            if (activity is not null)
            {
                // It makes the previous activity current, perhaps on the thread of a caller that has its own.
                NoContext.Run(static activity => activity.Stop(), activity);
            }
        }
        catch (Exception e)
        {
            SessionLog.ActivityListenerFailed(protocol.Settings.Logger, protocol.Session, e);
        }
    }

    /// <summary>Makes an activity the current one again; none if it has ended in the meantime, which Activity.Current refuses.</summary>
    public static void GoBackTo(Activity? outer) => Activity.Current = outer is { IsStopped: true } ? null : outer;

    /// <summary>Names the server of a request as it was configured.</summary>
    public static void SetServer(Activity? activity, Endpoint server)
    {
        if (activity is { IsAllDataRequested: true })
        {
            activity.SetTag("server.address", server.Host);
            if (server.Port > 0)
            {
                activity.SetTag("server.port", server.Port);
            }
        }
    }

    /// <summary>Names the peer: the server of a request, or the origin of a message.</summary>
    public static void SetPeer(Activity? activity, EndPoint? peer)
    {
        if (activity is not { IsAllDataRequested: true })
        {
            return;
        }

        bool isServer = activity.Kind is ActivityKind.Client or ActivityKind.Producer;
        switch (peer)
        {
            case IPEndPoint address:
                activity.SetTag(isServer ? "server.address" : "network.peer.address", address.Address.ToString());
                activity.SetTag(isServer ? "server.port" : "network.peer.port", address.Port);
                break;
            case not null:
                activity.SetTag(isServer ? "server.address" : "network.peer.address", peer.ToString());
                break;
        }
    }

    /// <summary>Marks an activity as failed.</summary>
    /// <param name="activity">The activity.</param>
    /// <param name="errorType">The code's name, or what else went wrong.</param>
    /// <param name="message">A sentence about it. Defaults to none.</param>
    public static void SetFailed(Activity? activity, string errorType, string? message = null)
    {
        if (activity is { IsAllDataRequested: true })
        {
            activity.SetTag("error.type", errorType);
            activity.SetStatus(ActivityStatusCode.Error, message);
        }
    }

    /// <summary>Marks the activity of a request or one-way message that has thrown.</summary>
    public static void SetFailed(Activity? activity, Exception exception) => SetFailed(
        activity,
        exception switch
        {
            RequestFailedException { Failure: { } failure } => failure.ToString(),
            RequestFailedException failed => failed.Code.ToString(),
            OperationCanceledException => nameof(RequestFailure.Canceled),
            _ => exception.GetType().FullName!,
        },
        exception.Message);

    // OpenTelemetry's conventions: a request is an RPC, a one-way message a message without a broker.
    private static Activity? Describe(Activity? activity, ushort type)
    {
        if (activity is not { IsAllDataRequested: true })
        {
            return activity;
        }

        if (activity.Kind is ActivityKind.Client or ActivityKind.Server)
        {
            activity.SetTag("rpc.system", SystemName);
            activity.SetTag("rpc.method", activity.OperationName);
        }
        else
        {
            activity.SetTag("messaging.system", SystemName);
            activity.SetTag("messaging.operation.type", activity.Kind == ActivityKind.Producer ? "send" : "process");
            activity.SetTag("messaging.operation.name", activity.OperationName);
        }

        return activity.SetTag("fastport.message.type", (int)type);
    }
}
