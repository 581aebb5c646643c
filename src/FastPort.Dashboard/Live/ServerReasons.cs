using FastPort.Telemetry;

namespace FastPort.Dashboard.Live;

/// <summary>Counts of a server's refusals, drops and closes, by reason. Sessions' ends are counted here, on their loops.</summary>
internal sealed class ServerReasons
{
    private static readonly CloseKind[] CloseKinds = Enum.GetValues<CloseKind>();

    private readonly FastPortServer _server;
    private readonly long[] _closed = new long[CloseKinds.Length];

    public ServerReasons(FastPortServer server)
    {
        _server = server;
        server.SessionClosed += OnClosed;
    }

    /// <summary>All counts that are not 0.</summary>
    public IReadOnlyList<LiveReason> Read(SessionCountersSnapshot counters)
    {
        List<LiveReason> reasons = [];
        Add<CloseKind>("closed", kind => Interlocked.Read(ref _closed[(int)kind]));
        Add<ConnectionRejection>("rejected", counters.ConnectionsRejectedFor);
        Add<FrameDrop>("dropped", counters.FramesDroppedFor);
        Add<ConnectionTimeout>("timeouts", counters.TimeoutsClosedBy);
        Add<RelayFailure>("relays", counters.RelaysFailedFor);
        for (uint code = 0; code <= 14; code++)
        {
            string name = code == 0 ? "Other" : ((ErrorCode)code).ToString();
            AddOne("errors", name, counters.ErrorsSentWith(code));
            AddOne("oneWay", name, counters.OneWayFailuresWith(code));
        }

        AddOne("accepts", "AcceptFailed", counters.AcceptErrors);
        AddOne("replies", "Unmatched", counters.RepliesToNothing);
        return reasons;

        void Add<TReason>(string kind, Func<TReason, long> count)
            where TReason : struct, Enum
        {
            foreach (TReason reason in Enum.GetValues<TReason>())
            {
                AddOne(kind, reason.ToString(), count(reason));
            }
        }

        void AddOne(string kind, string reason, long count)
        {
            if (count != 0)
            {
                reasons.Add(new LiveReason(kind, reason, count));
            }
        }
    }

    private void OnClosed(Session session, CloseReason reason) => Interlocked.Increment(ref _closed[(int)reason.Kind]);
}
