namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// Handlers of watched descriptors by the number that epoll stores for them. A number contains a generation, so an event whose descriptor
/// was removed earlier in the same batch finds no handler. Used only by one loop.
/// </summary>
internal sealed class LoopSlots
{
    private Slot[] _slots = new Slot[64];
    private int _count;
    private int _free = -1;

    public ulong Add(ILoopHandler handler)
    {
        int index = _free;
        if (index >= 0)
        {
            _free = _slots[index].NextFree;
        }
        else
        {
            if (_count == _slots.Length)
            {
                Array.Resize(ref _slots, _count * 2);
            }

            index = _count++;
        }

        ref Slot slot = ref _slots[index];
        slot.Handler = handler;
        return ((ulong)slot.Generation << 32) | (uint)index;
    }

    public ILoopHandler? Find(ulong number)
    {
        uint index = (uint)number;
        return index < (uint)_slots.Length && _slots[index].Generation == (uint)(number >> 32) ? _slots[index].Handler : null;
    }

    public void Remove(ulong number)
    {
        int index = (int)(uint)number;
        ref Slot slot = ref _slots[index];
        slot.Handler = null;
        slot.Generation++;
        slot.NextFree = _free;
        _free = index;
    }

    private struct Slot
    {
        public ILoopHandler? Handler;
        public uint Generation;
        public int NextFree;
    }
}
