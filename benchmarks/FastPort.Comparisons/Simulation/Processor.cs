namespace FastPort.Comparisons.Simulation;

/// <summary>
/// Cores that threads take turns on, one piece of work each time, as an operating system lets them. A thread that had nothing to do needs
/// a time to wake up.
/// </summary>
internal sealed class Processor(Agenda agenda, int cores, double wake = 0)
{
    private readonly Queue<WorkThread> _ready = new();
    private int _running;

    /// <summary>Time that the cores have worked.</summary>
    public double Busy { get; private set; }

    public int Cores => cores;

    /// <summary>Does a piece of work in a thread, after what it has to do already, and calls when it is done.</summary>
    public void Run(WorkThread thread, double cost, Action done)
    {
        thread.Work.Enqueue((cost, done));
        if (!thread.IsAwake)
        {
            thread.IsAwake = true;
            agenda.After(wake, () =>
            {
                _ready.Enqueue(thread);
                Dispatch();
            });
        }
    }

    private void Dispatch()
    {
        while (_running < cores && _ready.TryDequeue(out WorkThread? thread))
        {
            _running++;
            (double cost, Action done) = thread.Work.Dequeue();
            agenda.After(cost, () =>
            {
                _running--;
                Busy += cost;
                done();
                thread.IsAwake = thread.Work.Count > 0;
                if (thread.IsAwake)
                {
                    _ready.Enqueue(thread);
                }

                Dispatch();
            });
        }
    }
}

/// <summary>A thread and what it has to do, in order.</summary>
internal sealed class WorkThread
{
    public Queue<(double Cost, Action Done)> Work { get; } = new();

    public bool IsAwake { get; set; }
}
