namespace FastPort.Comparisons.Simulation;

/// <summary>What will happen, in the order of its time; of the same time, in the order in which it was said. Microseconds.</summary>
internal sealed class Agenda
{
    private readonly PriorityQueue<Action, (double Time, long Order)> _events = new();
    private long _order;

    public double Now { get; private set; }

    public void At(double time, Action action) => _events.Enqueue(action, (Math.Max(time, Now), _order++));

    public void After(double delay, Action action) => At(Now + delay, action);

    /// <summary>Lets everything happen up to a time.</summary>
    public void RunUntil(double time)
    {
        while (_events.TryPeek(out Action? action, out (double Time, long Order) next) && next.Time <= time)
        {
            _events.Dequeue();
            Now = next.Time;
            action();
        }

        Now = time;
    }
}
