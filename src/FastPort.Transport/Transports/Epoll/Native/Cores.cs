namespace FastPort.Transports.Epoll.Native;

/// <summary>Binding threads to cores.</summary>
internal static unsafe class Cores
{
    // sizeof(cpu_set_t): 1,024 cores.
    private const int MaskSize = 128;

    /// <summary>
    /// Binds the current thread to the n-th of the cores it may use, modulo their number; does nothing when the system refuses.
    /// </summary>
    public static void PinCurrentThread(int n)
    {
        byte* mask = stackalloc byte[MaskSize];
        new Span<byte>(mask, MaskSize).Clear();
        if (Libc.GetAffinity(0, MaskSize, mask) < 0)
        {
            return;
        }

        List<int> allowed = [];
        for (int core = 0; core < MaskSize * 8; core++)
        {
            if ((mask[core / 8] & (1 << (core % 8))) != 0)
            {
                allowed.Add(core);
            }
        }

        if (allowed.Count == 0)
        {
            return;
        }

        int chosen = allowed[n % allowed.Count];
        new Span<byte>(mask, MaskSize).Clear();
        mask[chosen / 8] = (byte)(1 << (chosen % 8));
        _ = Libc.SetAffinity(0, MaskSize, mask);
    }
}
