namespace FastPort.Comparisons.Simulation;

/// <summary>How long things took, in microseconds.</summary>
internal sealed class Latencies
{
    private readonly List<double> _values = [];
    private bool _isSorted;

    public int Count => _values.Count;

    public double Mean => _values.Count == 0 ? 0 : _values.Average();

    public double Max => At(1);

    public void Add(double value)
    {
        _values.Add(value);
        _isSorted = false;
    }

    /// <summary>The value that a share of all does not exceed; 0 without any.</summary>
    public double At(double share)
    {
        if (!_isSorted)
        {
            _values.Sort();
            _isSorted = true;
        }

        return _values.Count == 0 ? 0 : _values[Math.Max(0, (int)Math.Ceiling(share * _values.Count) - 1)];
    }
}
